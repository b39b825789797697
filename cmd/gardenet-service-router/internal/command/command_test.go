package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRun_CommandLine(t *testing.T) {
	ranges := "--pod-ranges=10.0.0.0/8,fd00::/64"
	for sentence, test := range map[string]struct {
		args []string
		node string
		code int
		// out and problem are parts of the output and of the errors.
		out, problem string
	}{
		"help":                     {args: []string{"--help"}, out: "Usage:\n  gardenet-service-router [flags]"},
		"help shows the ports":     {args: []string{"-h"}, out: `(default "127.0.0.1:19082")`},
		"version":                  {args: []string{"--version"}, out: "gardenet-service-router "},
		"no node":                  {args: []string{ranges}, code: exitUsage, problem: "--node: required"},
		"no ranges":                {node: "a", code: exitUsage, problem: "--pod-ranges: give one range of each family"},
		"two ranges of a family":   {args: []string{"--pod-ranges=10.0.0.0/8,11.0.0.0/8"}, node: "a", code: exitUsage, problem: "--pod-ranges: give one range of each family"},
		"no range":                 {args: []string{"--pod-ranges=all"}, node: "a", code: exitUsage, problem: `--pod-ranges: "all" must be a range in CIDR notation`},
		"no range of Services":     {args: []string{ranges, "--service-ranges=all"}, node: "a", code: exitUsage, problem: `--service-ranges: "all" must be a range`},
		"an unknown flag":          {args: []string{"--proxy-mode=ipvs"}, node: "a", code: exitUsage, problem: "unknown flag: --proxy-mode"},
		"an argument":              {args: []string{ranges, "start"}, node: "a", code: exitUsage, problem: `"start": unexpected argument`},
		"an unknown level":         {args: []string{ranges, "--log-level=loud"}, node: "a", code: exitUsage, problem: `--log-level: "loud" is unknown`},
		"an unknown format":        {args: []string{ranges, "--log-format=xml"}, node: "a", code: exitUsage, problem: `--log-format: "xml" is unknown`},
		"no interval":              {args: []string{ranges, "--verify-interval=0s"}, node: "a", code: exitUsage, problem: "--verify-interval: 0s must be more than nothing"},
		"no kubeconfig":            {args: []string{ranges, "--kubeconfig=/nowhere"}, node: "a", code: exitFailure, problem: "--kubeconfig: stat /nowhere"},
		"several things are wrong": {args: []string{"--log-level=loud"}, code: exitUsage, problem: "--pod-ranges"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var out, problems bytes.Buffer
			code := run(t.Context(), test.args, test.node, &out, &problems, func() error { return assert.AnError })
			assert.Equal(t, test.code, code, problems.String())
			assert.Contains(t, out.String(), test.out)
			assert.Contains(t, problems.String(), test.problem)
		})
	}
}
