package rig

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// World is what one test works with: a cloud with an account of its own, gardenlet, and a controller process that it may
// start and end as often as it likes. At the end the account must be as empty as at the beginning.
type World struct {
	T         *testing.T
	Seed      *Seed
	Cloud     *openstack.Cloud
	Account   *openstack.Account
	Gardenlet *gardenlet.Gardenlet
	*Process
	// Binary and Options are those of the next controller.
	Binary  string
	Options controller.Options

	what   controller.Binary
	output string
}

// Process is the controller that runs in a world, if any. All parts of a test share it.
type Process struct{ Controller *controller.Controller }

// NewWorld returns a world on the source seed in which no controller runs yet.
func (r *Rig) NewWorld(t *testing.T) *World {
	t.Helper()
	cloud, err := r.newCloud()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	return r.newWorld(t, r.Source, cloud, newAccount(t, cloud))
}

// MoveTo returns a world on the destination seed with the cloud and the account of another one.
func (r *Rig) MoveTo(t *testing.T, source *World) *World {
	t.Helper()
	return r.newWorld(t, r.Destination, source.Cloud, source.Account)
}

func (r *Rig) newWorld(t *testing.T, s *Seed, cloud *openstack.Cloud, account *openstack.Account) *World {
	t.Helper()
	w := &World{
		T: t, Seed: s, Cloud: cloud, Account: account, Gardenlet: gardenlet.New(s.Client), Process: &Process{}, Binary: r.Binary,
		what: r.Controller, output: filepath.Join(t.TempDir(), "controller.log"),
	}
	t.Cleanup(w.end)
	return w
}

// newAccount makes an account that is removed, and must be empty, when the test ends.
func newAccount(t *testing.T, cloud *openstack.Cloud) *openstack.Account {
	t.Helper()
	var suffix [4]byte
	_, _ = rand.Read(suffix[:]) // never fails
	account, err := cloud.NewAccount(t.Context(), "trellis-e2e-"+hex.EncodeToString(suffix[:]))
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := withinPatience()
		defer cancel()
		assert.NoError(t, account.Remove(ctx), "the account as it was found")
	})
	return account
}

// NewAccount makes another account in the world's cloud. It must be empty when the test ends.
func (w *World) NewAccount() *openstack.Account {
	w.T.Helper()
	return newAccount(w.T, w.Cloud)
}

// In returns the world as part of a test sees it.
func (w *World) In(t *testing.T) *World {
	part := *w
	part.T = t
	return &part
}

// end stops the controller if it still runs, and shows its log if the test failed.
func (w *World) end() {
	if w.Controller != nil {
		w.StopController()
	}
	if w.T.Failed() {
		w.T.Logf("the controller's log:\n%s", tail(w.Log(), 25))
	}
}

// StartController starts the controller, and waits until it is ready.
func (w *World) StartController() {
	w.T.Helper()
	require.Nil(w.T, w.Controller, "one controller at a time")
	options := w.Options
	options.Path, options.Kubeconfig, options.Output = w.Binary, w.Seed.kubeconfig, w.output
	ctx, cancel := context.WithTimeout(w.T.Context(), patience)
	defer cancel()
	var err error
	w.Controller, err = w.what.Start(ctx, options)
	require.NoError(w.T, err)
}

// StopController asks the controller to end, which it must do in good order. All it had to write is written afterwards, and
// what it had sent to the cloud has taken effect.
func (w *World) StopController() {
	w.T.Helper()
	ctx, cancel := withinPatience()
	defer cancel()
	assert.NoError(w.T, w.Controller.Terminate(ctx))
	w.Controller = nil
}

// KillController ends the controller as a power failure would. What it had sent to the cloud takes effect.
func (w *World) KillController() {
	w.T.Helper()
	w.Controller.Kill()
	w.Controller = nil
	require.NoError(w.T, w.Cloud.WaitIdle(w.T.Context()))
}

// KillAt sets something off and kills the controller at the first call that matches, in the given phase. No call is held
// any longer afterwards, even when setting it off ends the test.
func (w *World) KillAt(match wire.Match, phase wire.Phase, setOff func()) {
	w.T.Helper()
	reached, dead := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w.Cloud.SetHook(func(event wire.Event) wire.Verdict {
		if event.Phase != phase || !match.Matches(event.Call) {
			return wire.Proceed
		}
		once.Do(func() { close(reached) })
		<-dead
		return wire.Cut
	})
	release := sync.OnceFunc(func() {
		close(dead)
		w.Cloud.SetHook(nil)
	})
	defer release()
	setOff()
	select {
	case <-reached:
	case <-time.After(patience):
		w.T.Errorf("waited in vain for %s %s %s to kill the controller", match.Service, match.Method, match.Path)
	}
	w.Controller.Kill()
	w.Controller = nil
	release()
	require.NoError(w.T, w.Cloud.WaitIdle(w.T.Context()))
}

// Log returns what the controllers of this world have logged.
func (w *World) Log() string {
	content, err := os.ReadFile(w.output)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// Eventually waits until a condition holds.
func (w *World) Eventually(what string, condition func() bool) {
	w.T.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(glance) {
		if time.Now().After(end) {
			require.FailNow(w.T, "waited in vain until "+what)
		}
	}
}

// tail returns the last lines of a text.
func tail(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
