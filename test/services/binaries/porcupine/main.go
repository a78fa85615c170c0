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
	// reserve, free or holdings
	Kind    string `json:"kind"`
	Cluster string `json:"cluster"`
	Owner   string `json:"owner"`
	Fence   int    `json:"fence"`
	// The call was sent more than once: an earlier attempt may have been what took effect.
	Repeated bool `json:"repeated"`
}

type output struct {
	// held, exhausted, quota, freed, absent, stale or listed
	Result  string            `json:"result"`
	Address string            `json:"address"`
	Fence   int               `json:"fence"`
	Listed  map[string]string `json:"listed"`
}

type reservation struct {
	address string
	fence   int
}

// Owners are written "cluster/owner". The state is never changed in place.
type state struct {
	held map[string]reservation
	// The last fence given out, by cluster.
	fences map[string]int
}

func (s state) inCluster(cluster string) int {
	count := 0
	for owner := range s.held {
		if strings.HasPrefix(owner, cluster+"/") {
			count++
		}
	}
	return count
}

func (s state) without(owner string) state {
	held := maps.Clone(s.held)
	delete(held, owner)
	return state{held, s.fences}
}

func (s state) with(owner, cluster string, r reservation) state {
	held, fences := maps.Clone(s.held), maps.Clone(s.fences)
	held[owner], fences[cluster] = r, r.fence
	return state{held, fences}
}

func modelOf(h history) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return state{map[string]reservation{}, map[string]int{}} },
		Step: func(before, in, out any) (bool, any) {
			return step(h, before.(state), in.(input), out.(output))
		},
		Equal: func(left, right any) bool {
			a, b := left.(state), right.(state)
			return maps.Equal(a.held, b.held) && maps.Equal(a.fences, b.fences)
		},
	}
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
			return present && has.fence == in.Fence, s.without(owner)
		case in.Repeated && present && has.fence == in.Fence:
			return true, s.without(owner)
		case out.Result == "absent":
			return !present, s
		case out.Result == "stale":
			return present && has.fence != in.Fence, s
		}
	case "holdings":
		held := map[string]string{}
		for name, r := range s.held {
			if rest, found := strings.CutPrefix(name, in.Cluster+"/"); found {
				held[rest] = r.address
			}
		}
		return maps.Equal(held, out.Listed), s
	}
	return false, s
}

func reserve(h history, s state, in input, out output, owner string, has reservation, present bool) (bool, any) {
	switch out.Result {
	case "held":
		if present {
			return has.address == out.Address && has.fence == out.Fence, s
		}
		taken := slices.ContainsFunc(slices.Collect(maps.Values(s.held)), func(r reservation) bool {
			return r.address == out.Address
		})
		allowed := s.inCluster(in.Cluster) < h.Quotas[in.Cluster]
		fresh := out.Fence > s.fences[in.Cluster]
		return !taken && allowed && fresh, s.with(owner, in.Cluster, reservation{out.Address, out.Fence})
	case "exhausted":
		return !present && len(s.held) >= h.Pool, s
	case "quota":
		return !present && s.inCluster(in.Cluster) >= h.Quotas[in.Cluster], s
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
