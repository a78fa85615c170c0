//go:build tools

// Package helm pins the Helm program that the tests install the chart with.
package helm

import (
	_ "helm.sh/helm/v4/cmd/helm"
)
