package machine

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

func TestBinary_CommandLine(t *testing.T) {
	binary := Binary{
		Name: "machine-controller", Description: "Makes machines.",
		New: func(logr.Logger, prometheus.Registerer) (Driver, error) { return nil, errors.New("no driver today") },
	}
	for sentence, test := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"help explains":                        {[]string{"--help"}, exitClean, "--machine-creation-timeout", ""},
		"help on short notice":                 {[]string{"-h"}, exitClean, "Makes machines.", ""},
		"the version":                          {[]string{"--version"}, exitClean, "machine-controller ", ""},
		"an unknown flag":                      {[]string{"--nope"}, exitUsage, "", "unknown flag: --nope"},
		"an argument that is no flag":          {[]string{"now"}, exitUsage, "", `unexpected argument "now"`},
		"a value that the library refuses":     {[]string{"--port=0"}, exitUsage, "", "invalid port"},
		"a driver that cannot be made":         {gardenerArgs(), exitFailure, "", "no driver today"},
		"a problem is told with what to do":    {[]string{"--v=x"}, exitUsage, "", "Run with --help"},
		"what is to be waited for, in seconds": {[]string{"--machine-drain-timeout=soon"}, exitUsage, "", "machine-drain-timeout"},
	} {
		t.Run(sentence, func(t *testing.T) {
			resetRegisterer(t)
			var stdout, stderr bytes.Buffer
			require.Equal(t, test.code, binary.run(context.Background(), test.args, &stdout, &stderr), stderr.String())
			require.Contains(t, stdout.String(), test.stdout)
			require.Contains(t, stderr.String(), test.stderr)
		})
	}
}

// gardenerArgs are the arguments of Gardener's helper for sidecars.
func gardenerArgs() []string {
	return []string{
		"--control-kubeconfig=inClusterConfig", "--kube-api-qps=100", "--kube-api-burst=200", "--machine-creation-timeout=20m",
		"--machine-drain-timeout=2h", "--machine-health-timeout=10m", "--machine-safety-apiserver-statuscheck-timeout=30s",
		"--machine-safety-apiserver-statuscheck-period=1m", "--machine-safety-orphan-vms-period=30m", "--namespace=shoot--dev--one",
		"--port=10259", "--target-kubeconfig=none", "--v=3",
	}
}

// resetRegisterer unregisters the build's metric, which a process registers once.
func resetRegisterer(t *testing.T) {
	t.Helper()
	was := prometheus.DefaultRegisterer
	prometheus.DefaultRegisterer = prometheus.NewRegistry()
	t.Cleanup(func() { prometheus.DefaultRegisterer = was })
}
