package testenv

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Env is the environment of one test: a cloud with an account of its own, gardenlet, and a controller process that the test may start and end as
// often as it likes. At the end the account must be empty, as at the start.
type Env struct {
	T         *testing.T
	Seed      *clusters.Seed
	Provider  Provider
	Cloud     cloud.Cloud
	Account   Account
	Gardenlet *gardenlet.Gardenlet
	*Process
	// Binary and Options are those of the next controller process.
	Binary  string
	Options controller.Options

	what   controller.Binary
	output string
}

// Process is the running controller of an Env, if any. All parts of a test share it.
type Process struct{ Controller *controller.Controller }

// NewEnv returns an Env on the source seed, without a running controller.
func (f *Fixture) NewEnv(t *testing.T) *Env {
	t.Helper()
	opened, err := f.Provider.OpenCloud()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, opened.Close()) })
	return f.newEnv(t, f.Source, opened, newAccount(t, opened))
}

// MoveTo returns an Env on the destination seed with the cloud and the account of another one.
func (f *Fixture) MoveTo(t *testing.T, source *Env) *Env {
	t.Helper()
	return f.newEnv(t, f.Destination, source.Cloud, source.Account)
}

func (f *Fixture) newEnv(t *testing.T, s *clusters.Seed, in cloud.Cloud, account Account) *Env {
	t.Helper()
	env := &Env{
		T: t, Seed: s, Provider: f.Provider, Cloud: in, Account: account, Gardenlet: s.Gardenlet, Process: &Process{}, Binary: f.Binary,
		what: f.Controller, output: filepath.Join(t.TempDir(), "controller.log"),
	}
	t.Cleanup(env.end)
	return env
}

// Secondary returns an Env for a secondary controller beside the Env's controller: a process of the same binary, in the same seed and cloud.
func (env *Env) Secondary() *Env {
	other := *env
	other.Process, other.what, other.output = &Process{}, controller.Secondary(env.what), filepath.Join(env.T.TempDir(), "secondary.log")
	env.T.Cleanup(other.end)
	return &other
}

// newAccount creates an account that is deleted, and must be empty, at the end of the test.
func newAccount(t *testing.T, in cloud.Cloud) Account {
	t.Helper()
	var suffix [4]byte
	_, _ = rand.Read(suffix[:]) // never fails
	opened, err := in.OpenAccount(t.Context(), "trellis-e2e-"+hex.EncodeToString(suffix[:]))
	require.NoError(t, err)
	account, counts := opened.(Account)
	require.True(t, counts, "accounts of %s do not count their resources", in.Name())
	t.Cleanup(func() {
		ctx, cancel := timeoutContext()
		defer cancel()
		assert.NoError(t, account.Remove(ctx), "the account as it was found")
	})
	return account
}

// NewAccount creates another account in the Env's cloud. It must be empty at the end of the test.
func (env *Env) NewAccount() Account {
	env.T.Helper()
	return newAccount(env.T, env.Cloud)
}

// WithT returns the Env for a part of the test.
func (env *Env) WithT(t *testing.T) *Env {
	part := *env
	part.T = t
	return &part
}

// end stops the controller if it still runs, and prints its log if the test failed.
func (env *Env) end() {
	if env.Controller != nil {
		env.StopController()
	}
	if env.T.Failed() {
		env.T.Logf("the controller's log:\n%s", tail(env.Log(), 25))
	}
}

// StartController starts the controller, and waits until it is ready.
func (env *Env) StartController() {
	env.T.Helper()
	require.Nil(env.T, env.Controller, "one controller at a time")
	options := env.Options
	options.Path, options.Output = env.Binary, env.output
	options.Args = slices.Concat(env.Cloud.ControllerArgs(), options.Args)
	ctx, cancel := context.WithTimeout(env.T.Context(), timeout)
	defer cancel()
	var err error
	env.Controller, err = env.Seed.StartController(ctx, env.what, options)
	require.NoError(env.T, err)
}

// StopController terminates the controller, which must succeed. Afterwards its last writes are done, and its requests to the cloud have taken
// effect.
func (env *Env) StopController() {
	env.T.Helper()
	ctx, cancel := timeoutContext()
	defer cancel()
	assert.NoError(env.T, env.Controller.Terminate(ctx))
	env.Controller = nil
}

// KillController kills the controller. Its requests to the cloud take effect.
func (env *Env) KillController() {
	env.T.Helper()
	env.Controller.Kill()
	env.Controller = nil
	require.NoError(env.T, env.Cloud.WaitIdle(env.T.Context()))
}

// KillAt calls a function and kills the controller at the first request that matches, in the given phase. No request is delayed afterwards,
// even if the function ends the test.
func (env *Env) KillAt(match wire.Match, phase wire.Phase, trigger func()) {
	env.T.Helper()
	reached, killed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	env.Cloud.SetHook(func(event wire.Event) wire.HookResult {
		if event.Phase != phase || !match.Matches(event.Call) {
			return wire.Proceed
		}
		once.Do(func() { close(reached) })
		<-killed
		return wire.DropConnection
	})
	release := sync.OnceFunc(func() {
		close(killed)
		env.Cloud.SetHook(nil)
	})
	defer release()
	trigger()
	select {
	case <-reached:
	case <-time.After(timeout):
		env.T.Errorf("waited in vain for %s %s %s to kill the controller", match.Service, match.Method, match.Path)
	}
	env.Controller.Kill()
	env.Controller = nil
	release()
	require.NoError(env.T, env.Cloud.WaitIdle(env.T.Context()))
}

// Log returns the logs of all controllers of this Env.
func (env *Env) Log() string {
	content, err := os.ReadFile(env.output)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// Eventually waits until a condition holds.
func (env *Env) Eventually(what string, condition func() bool) {
	env.T.Helper()
	for end := time.Now().Add(timeout); !condition(); time.Sleep(interval) {
		if time.Now().After(end) {
			require.FailNow(env.T, "waited in vain until "+what)
		}
	}
}

// tail returns the last lines of a text.
func tail(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
