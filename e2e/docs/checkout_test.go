package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// checkout is the root of the repository.
type checkout string

func newCheckout(t *testing.T) checkout {
	t.Helper()
	root, err := repo.Root()
	require.NoError(t, err)
	return checkout(root)
}

// check returns what is wrong with a command as far as the checkout tells, without running it.
func (c checkout) check(ctx context.Context, cmd command) error {
	switch name := cmd.words[0]; {
	case name == "make":
		return c.checkMake(ctx, cmd.words[1:])
	case name == "go" && len(cmd.words) > 2 && slices.Contains([]string{"build", "run", "test"}, cmd.words[1]):
		return c.checkGo(cmd)
	case strings.HasPrefix(name, "bin/"):
		return c.exists(filepath.Join("cmd", filepath.Base(name)))
	case strings.Contains(name, "/"):
		return c.exists(filepath.Join(cmd.dir, name))
	}
	return nil
}

func (c checkout) exists(path string) error {
	_, err := os.Stat(filepath.Join(string(c), path))
	return err
}

// checkMake checks that make knows the targets, and that each variable changes what it does.
func (c checkout) checkMake(ctx context.Context, args []string) error {
	before, err := c.dryRun(ctx, args)
	if err != nil {
		return err
	}
	for i, arg := range args {
		name, _, isVariable := strings.Cut(arg, "=")
		if !isVariable {
			continue
		}
		changed := slices.Clone(args)
		changed[i] = name + "=another"
		after, err := c.dryRun(ctx, changed)
		if err != nil {
			return err
		}
		if before == after {
			return fmt.Errorf("make %s: the variable %s changes nothing", strings.Join(args, " "), name)
		}
	}
	return nil
}

// dryRun returns the commands that make would run.
func (c checkout) dryRun(ctx context.Context, args []string) (string, error) {
	dry := exec.CommandContext(ctx, "make", append([]string{"--dry-run"}, args...)...)
	dry.Dir = string(c)
	dry.Env = environmentWithoutMake()
	output, err := dry.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("make %s: %s", strings.Join(args, " "), failed.Stderr)
	}
	return string(output), err
}

// environmentWithoutMake returns the environment without what a make that runs this test has added for others below it.
func environmentWithoutMake() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return regexp.MustCompile(`^(MAKE\w*|MFLAGS|PKG|RUN|PACKAGES)=`).MatchString(variable)
	})
}

// checkGo checks that packages exist, and a test of the name that -run has.
func (c checkout) checkGo(cmd command) error {
	var folders []string
	test := ""
	for i, word := range cmd.words {
		switch {
		case word == "." || strings.HasPrefix(word, "./"):
			folders = append(folders, filepath.Join(cmd.dir, strings.TrimSuffix(word, "/...")))
		case word == "-run" && i+1 < len(cmd.words):
			test, _, _ = strings.Cut(cmd.words[i+1], "/")
		}
	}
	found := test == ""
	for _, folder := range folders {
		if err := c.exists(folder); err != nil {
			return err
		}
		found = found || c.hasTest(folder, test)
	}
	if !found {
		return fmt.Errorf("%s: none of %q has a test %s", strings.Join(cmd.words, " "), folders, test)
	}
	return nil
}

// hasTest reports whether the package in a folder has a test whose name begins with a name.
func (c checkout) hasTest(folder, name string) bool {
	files, _ := filepath.Glob(filepath.Join(string(c), folder, "*_test.go"))
	return slices.ContainsFunc(files, func(file string) bool {
		content, err := os.ReadFile(file)
		return err == nil && regexp.MustCompile(`(?m)^func `+regexp.QuoteMeta(name)+`\w*\(t \*testing\.T\)`).Match(content)
	})
}

// TestPages_Commands checks all commands of all pages.
func TestPages_Commands(t *testing.T) {
	c := newCheckout(t)
	seen := map[string]bool{}
	for _, p := range pages(t) {
		for _, script := range p.scripts() {
			commands, err := commandsOf(script)
			assert.NoError(t, err, "%s: no script for bash:\n%s", p.name, script)
			for _, cmd := range commands {
				if text := fmt.Sprintf("%s %q", cmd.dir, cmd.words); !seen[text] {
					seen[text] = true
					assert.NoError(t, c.check(t.Context(), cmd), p.name)
				}
			}
		}
	}
	assert.Greater(t, len(seen), 80)
}

func TestCheckout_Check(t *testing.T) {
	c := newCheckout(t)
	for sentence, test := range map[string]struct{ script, want string }{
		"a target":                          {"make help", ""},
		"a target with variables":           {"make images VERSION=v0.1.0 PUSH=registry.example.org", ""},
		"an unknown target":                 {"make image", "No rule to make target 'image'"},
		"a variable of another target":      {"make images OUT=x", "the variable OUT changes nothing"},
		"a variable without its other":      {"make test RUN=TestDecide", "the variable RUN changes nothing"},
		"a test":                            {"GOWORK=off go test -run TestBinarySize ./internal/architecture", ""},
		"a test in a folder":                {"cd e2e/docs && go test -run TestPages_Commands .", ""},
		"all packages below":                {"go test ./internal/infrastructure/...", ""},
		"an unknown package":                {"go test ./internal/nothing", "no such file"},
		"an unknown test":                   {"go test -run TestNothing ./internal/architecture", "has a test TestNothing"},
		"a program":                         {".ci/run", ""},
		"an unknown program":                {".ci/walk", "no such file"},
		"a binary, built or not":            {"bin/worker-controller --help", ""},
		"a binary that there is not":        {"bin/worker", "no such file"},
		"a command that is not of the repo": {"kubectl get pods", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			commands, err := commandsOf(test.script)
			require.NoError(t, err)
			require.Len(t, commands, 1)
			err = c.check(t.Context(), commands[0])
			if test.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, test.want)
			}
		})
	}
}
