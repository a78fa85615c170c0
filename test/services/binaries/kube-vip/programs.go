//go:build tools

// Package kubevip pins the kube-vip that the tests run for real.
package kubevip

import (
	_ "github.com/kube-vip/kube-vip"
)
