// Program porcupine judges a recorded history of the address allocator: is there an order of the calls,
// consistent with when each began and ended, in which every answer is right?
//
// It reads JSON from standard input and prints "ok", "illegal" or "unknown" (out of time).
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

type history struct {
	Pool       int            `json:"pool"`
	Quotas     map[string]int `json:"quotas"`
	TimeoutSec int            `json:"timeoutSeconds"`
	Calls      []call         `json:"calls"`
}

type call struct {
	Client int    `json:"client"`
	Begin  int64  `json:"begin"`
	End    int64  `json:"end"`
	Input  input  `json:"input"`
	Output output `json:"output"`
}

type input struct {
	// reserve, free, holdings, reclaim or heartbeat
	Kind         string `json:"kind"`
	Cluster      string `json:"cluster"`
	Owner        string `json:"owner"`
	FencingToken int    `json:"fencingToken"`
	// Owners of one cluster with the same key share an address if their ports differ.
	SharingKey string `json:"sharingKey"`
	Port       string `json:"port"`
	// The call was sent more than once: an earlier attempt may have been what took effect.
	Repeated bool `json:"repeated"`
}

type output struct {
	// held, exhausted, quota, freed, absent, stale, listed, voided, beaten, or unknown: nobody heard
	// what came of it, and it may take effect at any time after it began, or never
	Result       string            `json:"result"`
	Address      string            `json:"address"`
	FencingToken int               `json:"fencingToken"`
	Listed       map[string]string `json:"listed"`
	Voided       []string          `json:"voided"`
	Epoch        string            `json:"epoch"`
}

type reservation struct {
	address      string
	fencingToken int
	sharingKey   string
	port         string
}

// Owners are written "cluster/owner". The state is never changed in place.
type state struct {
	held map[string]reservation
	// The last fencing token given out, by cluster.
	fencingTokens map[string]int
	// The epoch of each cluster that somebody was told of, and all that ever were.
	epochs map[string]string
	used   map[string]bool
}

// How many addresses are held, by however many owners each.
func (s state) addresses() int {
	addresses := map[string]bool{}
	for _, r := range s.held {
		addresses[r.address] = true
	}
	return len(addresses)
}

// The addresses that an owner of the cluster can share.
func (s state) joinable(in input) []string {
	if in.SharingKey == "" {
		return nil
	}
	addresses := []string{}
	for owner, r := range s.held {
		if strings.HasPrefix(owner, in.Cluster+"/") && r.sharingKey == in.SharingKey {
			addresses = append(addresses, r.address)
		}
	}
	return slices.DeleteFunc(addresses, func(address string) bool {
		for _, r := range s.held {
			if r.address == address && r.port == in.Port {
				return true
			}
		}
		return false
	})
}

func (s state) without(owner string) state {
	held := maps.Clone(s.held)
	delete(held, owner)
	return state{held, s.fencingTokens, s.epochs, s.used}
}

func (s state) with(owner, cluster string, r reservation) state {
	held, fencingTokens := maps.Clone(s.held), maps.Clone(s.fencingTokens)
	held[owner], fencingTokens[cluster] = r, r.fencingToken
	return state{held, fencingTokens, s.epochs, s.used}
}

// Everything that the cluster holds is void, and a new epoch begins that nobody knows yet.
func (s state) voided(cluster string) state {
	held, epochs := maps.Clone(s.held), maps.Clone(s.epochs)
	for owner := range s.held {
		if strings.HasPrefix(owner, cluster+"/") {
			delete(held, owner)
		}
	}
	delete(epochs, cluster)
	return state{held, s.fencingTokens, epochs, s.used}
}

func (s state) told(cluster, epoch string) state {
	epochs, used := maps.Clone(s.epochs), maps.Clone(s.used)
	epochs[cluster], used[epoch] = epoch, true
	return state{s.held, s.fencingTokens, epochs, used}
}

func (s state) addressesOf(cluster string) []string {
	addresses := []string{}
	for owner, r := range s.held {
		if strings.HasPrefix(owner, cluster+"/") {
			addresses = append(addresses, r.address)
		}
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

func modelOf(h history) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any {
			return []any{state{
				map[string]reservation{}, map[string]int{}, map[string]string{}, map[string]bool{},
			}}
		},
		Step: func(before, in, out any) []any {
			s, i, o := before.(state), in.(input), out.(output)
			if i.Kind == "reclaim" && o.Result == "unknown" {
				return []any{s, s.voided(i.Cluster)}
			}
			if ok, after := step(h, s, i, o); ok {
				return []any{after}
			}
			return nil
		},
		Equal: func(left, right any) bool {
			a, b := left.(state), right.(state)
			return maps.Equal(a.held, b.held) && maps.Equal(a.fencingTokens, b.fencingTokens) &&
				maps.Equal(a.epochs, b.epochs) && maps.Equal(a.used, b.used)
		},
	}
	return model.ToModel()
}

func step(h history, s state, in input, out output) (bool, any) {
	owner := in.Cluster + "/" + in.Owner
	has, present := s.held[owner]
	switch in.Kind {
	case "reserve":
		return reserve(h, s, in, out, owner, has, present)
	case "free":
		switch {
		case out.Result == "freed":
			return present && has.fencingToken == in.FencingToken, s.without(owner)
		case in.Repeated && present && has.fencingToken == in.FencingToken:
			return true, s.without(owner)
		case out.Result == "absent":
			return !present, s
		case out.Result == "stale":
			return present && has.fencingToken != in.FencingToken, s
		}
	case "holdings":
		held := map[string]string{}
		for name, r := range s.held {
			if rest, found := strings.CutPrefix(name, in.Cluster+"/"); found {
				held[rest] = r.address
			}
		}
		return maps.Equal(held, out.Listed), s
	case "reclaim":
		slices.Sort(out.Voided)
		return slices.Equal(s.addressesOf(in.Cluster), out.Voided), s.voided(in.Cluster)
	case "heartbeat":
		if known, told := s.epochs[in.Cluster]; told {
			return known == out.Epoch, s
		}
		return !s.used[out.Epoch], s.told(in.Cluster, out.Epoch)
	}
	return false, s
}

func reserve(h history, s state, in input, out output, owner string, has reservation, present bool) (bool, any) {
	shared := s.joinable(in)
	switch out.Result {
	case "held":
		if present {
			return has.address == out.Address && has.fencingToken == out.FencingToken, s
		}
		fresh := out.FencingToken > s.fencingTokens[in.Cluster]
		after := s.with(owner, in.Cluster, reservation{out.Address, out.FencingToken, in.SharingKey, in.Port})
		if len(shared) > 0 {
			return slices.Contains(shared, out.Address) && fresh, after
		}
		taken := slices.ContainsFunc(slices.Collect(maps.Values(s.held)), func(r reservation) bool {
			return r.address == out.Address
		})
		allowed := len(s.addressesOf(in.Cluster)) < h.Quotas[in.Cluster]
		return !taken && allowed && fresh, after
	case "exhausted":
		return !present && len(shared) == 0 && s.addresses() >= h.Pool, s
	case "quota":
		full := len(s.addressesOf(in.Cluster)) >= h.Quotas[in.Cluster]
		return !present && len(shared) == 0 && full, s
	}
	return false, s
}

func main() {
	var h history
	if err := json.NewDecoder(os.Stdin).Decode(&h); err != nil {
		fmt.Fprintln(os.Stderr, "the history can't be read:", err)
		os.Exit(2)
	}
	operations := make([]porcupine.Operation, 0, len(h.Calls))
	for _, c := range h.Calls {
		operations = append(operations, porcupine.Operation{
			ClientId: c.Client, Input: c.Input, Call: c.Begin, Output: c.Output, Return: c.End,
		})
	}
	switch porcupine.CheckOperationsTimeout(modelOf(h), operations, time.Duration(h.TimeoutSec)*time.Second) {
	case porcupine.Ok:
		fmt.Println("ok")
	case porcupine.Illegal:
		fmt.Println("illegal")
	default:
		fmt.Println("unknown")
	}
}
