//go:build tools

// Package metallb pins the MetalLB that the tests run for real.
package metallb

import (
	_ "go.universe.tf/metallb/controller"
	_ "go.universe.tf/metallb/speaker"
)
