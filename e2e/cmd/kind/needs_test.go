package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// capableMachine is a machine that has everything.
func capableMachine() machine {
	return machine{
		run: func(_ context.Context, name string, args ...string) (string, error) {
			if strings.Contains(strings.Join(args, " "), "DefaultRuntime") {
				return "runc", nil
			}
			return name + " of some version", nil
		},
		read:     func(string) (string, error) { return "100000", nil },
		exists:   func(string) bool { return true },
		free:     func(string) (uint64, error) { return 100 << 30, nil },
		image:    func(context.Context) string { return "" },
		registry: func(context.Context) bool { return false },
		root:     true, all: true,
	}
}

func without(program string) func(context.Context, string, ...string) (string, error) {
	return func(ctx context.Context, name string, args ...string) (string, error) {
		if strings.HasPrefix(name+" "+strings.Join(args, " "), program) {
			return "", errors.New("not found")
		}
		return capableMachine().run(ctx, name, args...)
	}
}

func TestNeeds(t *testing.T) {
	for what, test := range map[string]struct {
		change func(*machine)
		// says is in the output; fails is true if clusters cannot be created.
		wantText []string
		fails    bool
		// not is not in the output.
		not string
	}{
		"a machine with everything": {wantText: []string{"ok       docker daemon", "version 2", "limits are high enough"}},
		"no docker":                 {change: func(m *machine) { m.run = without("docker") }, wantText: []string{"missing  docker ", "docker.io"}, fails: true},
		"no daemon":                 {change: func(m *machine) { m.run = without("docker info") }, wantText: []string{"missing  docker daemon", "systemctl start docker"}, not: "docker.io", fails: true},
		"only the client of docker": {
			change: func(m *machine) {
				m.run = func(ctx context.Context, name string, args ...string) (string, error) {
					if name == "dockerd" {
						return "", errors.New("not found")
					}
					return without("docker info")(ctx, name, args...)
				}
				m.exists = func(p string) bool { return p != "/usr/sbin/dockerd" }
			},
			wantText: []string{
				"missing  docker daemon", "it is not installed, only the client is", "apt-get install --no-install-recommends docker.io", "systemctl start docker",
			},
			fails: true,
		},
		"no /lib/modules":                       {change: func(m *machine) { m.exists = func(p string) bool { return p != "/lib/modules" } }, wantText: []string{"mkdir -p /lib/modules"}, fails: true},
		"no debootstrap, and nothing to pull":   {change: func(m *machine) { m.run = without("debootstrap") }, wantText: []string{"missing  Debian packages", "recommends debootstrap\n"}, fails: true},
		"not root, and nothing to pull":         {change: func(m *machine) { m.root = false }, wantText: []string{"missing  root", "sudo make kind-node-image"}, fails: true},
		"a root without all rights":             {change: func(m *machine) { m.all = false }, wantText: []string{"missing  privileged", "runc-capped", "daemon.json"}, fails: true},
		"cgroups of version 1":                  {change: func(m *machine) { m.exists = func(p string) bool { return p == "/lib/modules" } }, wantText: []string{"version 1"}},
		"low limits":                            {change: func(m *machine) { m.read = func(string) (string, error) { return "128\n", nil } }, wantText: []string{"could do inotify", "it is 128"}},
		"hardly any space":                      {change: func(m *machine) { m.free = func(string) (uint64, error) { return 1 << 30, nil } }, wantText: []string{"missing  disk"}, fails: true},
		"little space":                          {change: func(m *machine) { m.free = func(string) (uint64, error) { return 5 << 30, nil } }, wantText: []string{"could do disk"}},
		"no debootstrap, but a registry":        {change: func(m *machine) { m.run = without("debootstrap"); m.registry = yes }, wantText: []string{"could do Debian packages"}},
		"no debootstrap, but an image is there": {change: func(m *machine) { m.run = without("debootstrap"); m.image = named }, wantText: []string{"ok       node image             an-image"}},
		"a root without all rights, whose Docker starts containers by another runtime": {
			change: func(m *machine) {
				m.all = false
				m.run = func(context.Context, string, ...string) (string, error) { return "runc-capped", nil }
			},
			wantText: []string{"ok       privileged"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			m := capableMachine()
			if test.change != nil {
				test.change(&m)
			}
			var out strings.Builder
			err := printFindings(&out, checkMachine(t.Context(), m))
			assert.Equal(t, test.fails, err != nil, out.String())
			for _, wantText := range test.wantText {
				assert.Contains(t, out.String(), wantText)
			}
			if test.not != "" {
				assert.NotContains(t, out.String(), test.not)
			}
		})
	}
}

func yes(context.Context) bool { return true }

func named(context.Context) string { return "an-image" }
