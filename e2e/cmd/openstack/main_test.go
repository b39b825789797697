package main

import (
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/stack"
)

func TestParse(t *testing.T) {
	for sentence, test := range map[string]struct {
		line string
		want command
		fail string
	}{
		"a command takes the usual places":         {line: "up", want: command{name: "up", dir: stack.DefaultDir, cache: stack.DefaultCache}},
		"flags may follow the command":             {line: "down --keep --dir=/x", want: command{name: "down", dir: "/x", cache: stack.DefaultCache, keep: true}},
		"flags may come before it":                 {line: "--dir /x --cache= up", want: command{name: "up", dir: "/x"}},
		"a command is needed":                      {line: "--dir=/x", fail: "a command is missing"},
		"one command is enough":                    {line: "down up", fail: `"up" is one command too many`},
		"other commands are not known":             {line: "restart", fail: `there is no command "restart"`},
		"other flags are not known":                {line: "up --fast", fail: "-fast"},
		"only what is brought down leaves a state": {line: "up --keep", fail: "--keep belongs to down"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := parse(strings.Fields(test.line), &strings.Builder{})
			if test.fail != "" {
				require.ErrorContains(t, err, test.fail)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, *got)
		})
	}
}

func TestHelp(t *testing.T) {
	for _, line := range []string{"--help", "up -h"} {
		var out strings.Builder
		_, err := parse(strings.Fields(line), &out)
		require.ErrorIs(t, err, flag.ErrHelp)
		assert.Contains(t, out.String(), "Usage: openstack")
		assert.Contains(t, out.String(), stack.DefaultDir+"/clouds.yaml")
		assert.NotContains(t, out.String(), "%!", "every place is filled")
	}
}
