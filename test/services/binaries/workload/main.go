// What runs in the containers of the real cluster: the sandbox's own process, a server and a client.
//
//	workload              waits, and buries orphans: for pid 1
//	workload serve        answers on $PORT (8080) who it is and who asks
//	workload get URL      prints the answer, or fails within 2 minutes
//	workload first URL    prints when it was first answered, in milliseconds since 1970
//	workload load URL...  asks again and again, and tells on port 9090 how it fared (load.go)
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	command := "pause"
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	switch command {
	case "pause":
		pause()
	case "serve":
		go serve()
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
		<-stop
	case "get":
		get(os.Args[2])
	case "first":
		first(os.Args[2])
	case "load":
		runLoad(os.Args[2:])
	default:
		fail(fmt.Errorf("there is no command %s", command))
	}
}

func pause() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			pid, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if pid <= 0 {
				break
			}
		}
	}
}

func serve() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	name, _ := os.Hostname()
	fmt.Println("serving on", port, "as", name)
	fail(http.ListenAndServe(":"+port, http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		client, _, _ := net.SplitHostPort(request.RemoteAddr)
		fmt.Fprintf(answer, "%s on %s seen as %s\n", name, os.Getenv("NODE_NAME"), client)
		if request.URL.Path == "/stream" {
			goOn(answer, request)
		}
	})))
}

// goOn says something ten times a second until the client leaves.
func goOn(answer http.ResponseWriter, request *http.Request) {
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	for {
		answer.(http.Flusher).Flush()
		select {
		case <-request.Context().Done():
			return
		case now := <-ticks.C:
			fmt.Fprintln(answer, now.UTC().Format(time.StampMilli))
		}
	}
}

func get(url string) {
	client := http.Client{Timeout: 120 * time.Second}
	answer, err := client.Get(url)
	if err != nil {
		fail(err)
	}
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		fail(err)
	}
	if answer.StatusCode != http.StatusOK {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
