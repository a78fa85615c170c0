package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// So long that whoever is there at all has answered, however busy the machine.
const patience = 60 * time.Second

// How many failures are kept with their words.
const told = 20

// load asks for each address in turn, by a new connection each time, and keeps downloads running beside that.
// It tells on its port how all of them fared.
type load struct {
	urls     []string
	every    time.Duration
	client   http.Client
	asked    atomic.Int64
	answered atomic.Int64
	repeated atomic.Int64
	streams  []atomic.Int64
	lock     sync.Mutex
	failed   int
	failures []string
	broken   []string
}

func runLoad(words []string) {
	flags := flag.NewFlagSet("load", flag.ExitOnError)
	every := flags.Duration("every", 20*time.Millisecond, "between two new connections")
	streams := flags.Int("streams", 0, "downloads that run all the time")
	port := flags.Int("port", 9090, "where to tell")
	if err := flags.Parse(words); err != nil {
		fail(err)
	}
	running := &load{urls: flags.Args(), every: *every, streams: make([]atomic.Int64, *streams)}
	running.client = http.Client{
		Timeout:   patience,
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: running.dial},
	}
	for at := range running.streams {
		go running.follow(at)
	}
	go running.askAgainAndAgain()
	fail(http.ListenAndServe(fmt.Sprintf(":%d", *port), http.HandlerFunc(running.tell)))
}

func (running *load) askAgainAndAgain() {
	for range time.Tick(running.every) {
		number := running.asked.Add(1)
		go running.ask(running.urls[int(number)%len(running.urls)])
	}
}

func (running *load) ask(address string) {
	begin := time.Now()
	answer, err := running.client.Get(address)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", address, answer.Status)
		}
	}
	if err == nil {
		running.answered.Add(1)
		return
	}
	running.lock.Lock()
	defer running.lock.Unlock()
	running.failed++
	if len(running.failures) < told {
		text := fmt.Sprintf("%s, after %s: %v", begin.UTC().Format(time.StampMilli), time.Since(begin).Round(time.Millisecond), err)
		running.failures = append(running.failures, text)
	}
}

// A download that says something ten times a second, for as long as the server lives.
func (running *load) follow(at int) {
	address := running.urls[at%len(running.urls)]
	err := running.download(address+"stream", at)
	running.lock.Lock()
	defer running.lock.Unlock()
	running.broken = append(running.broken, fmt.Sprintf("%s %s: %v", time.Now().UTC().Format(time.StampMilli), address, err))
}

func (running *load) download(address string, at int) error {
	connection, err := net.DialTimeout("tcp", hostOf(address), patience)
	if err != nil {
		return err
	}
	defer connection.Close()
	request, err := http.NewRequest("GET", address, nil)
	if err != nil {
		return err
	}
	if err := request.Write(connection); err != nil {
		return err
	}
	lines := bufio.NewReader(connection)
	for {
		if err := connection.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return err
		}
		running.streams[at].Add(int64(len(line)))
	}
}

func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		fail(err)
	}
	if parsed.Port() == "" {
		return net.JoinHostPort(parsed.Hostname(), "80")
	}
	return parsed.Host
}

// dial notes connections whose first packet had to be sent again: nobody was there for it.
func (running *load) dial(end context.Context, network, address string) (net.Conn, error) {
	connection, err := (&net.Dialer{}).DialContext(end, network, address)
	if err != nil {
		return nil, err
	}
	raw, err := connection.(*net.TCPConn).SyscallConn()
	if err != nil {
		return nil, err
	}
	raw.Control(func(descriptor uintptr) {
		var info syscall.TCPInfo
		size := unsafe.Sizeof(info)
		_, _, failure := syscall.Syscall6(syscall.SYS_GETSOCKOPT, descriptor, syscall.IPPROTO_TCP,
			syscall.TCP_INFO, uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
		if failure == 0 && info.Total_retrans > 0 {
			running.repeated.Add(1)
		}
	})
	return connection, nil
}

func (running *load) tell(answer http.ResponseWriter, _ *http.Request) {
	running.lock.Lock()
	defer running.lock.Unlock()
	streams := []int64{}
	for at := range running.streams {
		streams = append(streams, running.streams[at].Load())
	}
	json.NewEncoder(answer).Encode(map[string]any{
		"asked":    running.asked.Load(),
		"answered": running.answered.Load(),
		"repeated": running.repeated.Load(),
		"failed":   running.failed,
		"failures": append([]string{}, running.failures...),
		"streams":  streams,
		"broken":   append([]string{}, running.broken...),
	})
}
