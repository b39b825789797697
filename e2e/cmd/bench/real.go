package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

const (
	// cleanUpTimeout bounds each step of the clean-up on a real cloud.
	cleanUpTimeout = 2 * time.Minute
	// reachableTimeout bounds the first request to a real cloud.
	reachableTimeout = 30 * time.Second
)

// addRealCloudColumn measures on a real cloud, if there is one, and prints it beside the fake.
func (b bench) addRealCloudColumn(ctx context.Context, o options, standIn map[string]cost) error {
	target, why, err := find(ctx, o)
	if err != nil {
		return err
	}
	if target == nil {
		b.screen.Linef("\nno second column: %s", why)
		return nil
	}
	b.screen.Heading("The same shoot on a real cloud")
	genuine, err := b.onRealCloud(ctx, *target)
	if genuine == nil {
		return err
	}
	b.screen.Linef("")
	b.print(realTable(standIn, genuine))
	return errors.Join(err, compare(standIn, genuine))
}

// find returns the second cloud: the one in the options, or else that of make openstack-up. Without one, it returns the reason.
func find(ctx context.Context, o options) (target *conformance.Cloud, why string, err error) {
	if o.entry == "" {
		return discover(ctx, filepath.Join(o.dir, "clouds.yaml"))
	}
	found, err := conformance.FromFile(o.entry)
	if err != nil {
		return nil, "", err
	}
	return &found, "", nil
}

func discover(ctx context.Context, path string) (target *conformance.Cloud, why string, err error) {
	file, err := os.Open(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, "make openstack-up has brought no real cloud up, and --cloud names none", nil
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Sprintf("the real cloud is somebody else's: %v", err), nil
	case err != nil:
		return nil, "", fmt.Errorf("looking for a real cloud: %w", err)
	}
	_ = file.Close()
	found, err := conformance.FromFile("admin", path)
	if err != nil {
		return nil, "", err
	}
	err = checkReachable(ctx, found.AuthURL)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Sprintf("the real cloud does not run: %v", err), nil
	}
	return &found, "", err
}

// checkReachable fails if no server listens at a URL.
func checkReachable(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, reachableTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// onRealCloud measures on the second cloud, in an account of its own. No latency is added there.
func (b bench) onRealCloud(ctx context.Context, target conformance.Cloud) (costs map[string]cost, err error) {
	cloud, err := openstack.New(target)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cloud.Close()) }()
	var suffix [4]byte
	_, _ = rand.Read(suffix[:]) // never fails
	account, err := cloud.NewAccount(ctx, "trellis-bench-"+hex.EncodeToString(suffix[:]))
	if err != nil {
		return nil, err
	}
	where := place{cloud: cloud, account: account}
	costs, err = b.costs(ctx, where)
	if err != nil {
		b.screen.Linef("  removing project %q and what is in it", account.Project)
		err = errors.Join(err, b.cleanUp(ctx, where))
	}
	return costs, errors.Join(err, detached(ctx, account.Remove))
}

// cleanUp deletes the shoots after a canceled measurement, as far as the controller can. Then the controller is stopped, and what is left stays.
func (b bench) cleanUp(ctx context.Context, where place) error {
	var failures []error
	for _, name := range []string{coldShoot, warmShoot} {
		err := detached(ctx, func(ctx context.Context) error {
			return b.whileControllerRuns(ctx, func(ctx context.Context) error {
				return b.destroy(ctx, where.account.NewShoot(name))
			})
		})
		if err != nil {
			failures = append(failures, fmt.Errorf("removing shoot %s: %w", name, err))
		}
	}
	failures = append(failures, detached(ctx, b.Infrastructure.Terminate), detached(ctx, where.cloud.WaitIdle))
	b.Infrastructure = nil
	return errors.Join(failures...)
}

// detached calls a function with a context that Ctrl-C does not cancel.
func detached(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	return do(ctx)
}

// compare returns an error that names the calls that differ between two clouds.
func compare(standIn, genuine map[string]cost) error {
	var failures []error
	for _, row := range rows() {
		here, there := standIn[row].log.Count(), genuine[row].log.Count()
		names := map[string]bool{}
		for name := range here {
			names[name] = true
		}
		for name := range there {
			names[name] = true
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if here[name] != there[name] {
				failures = append(failures, fmt.Errorf("%s: %s: %d on the fake, %d on the real cloud", row, name, here[name], there[name]))
			}
		}
	}
	return errors.Join(failures...)
}
