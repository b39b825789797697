package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/stack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// cleanUpTimeout bounds the removal of an account in a real cloud.
const cleanUpTimeout = 2 * time.Minute

// find returns the second cloud: the one that was named, or else the one that `make openstack-up` brings up. Without
// either it says why there is none.
func find(entry string) (cloud *conformance.Cloud, why string, err error) {
	if entry == "" {
		const variable = "OS_CLIENT_CONFIG_FILE"
		file := filepath.Join(stack.DefaultDir, "clouds.yaml")
		switch _, err := os.Stat(file); {
		case errors.Is(err, os.ErrNotExist):
			return nil, "no real cloud beside it: OS_CLOUD names none, and `make openstack-up` has brought none up", nil
		case err != nil:
			return nil, "", fmt.Errorf("looking for a real cloud: %w", err)
		}
		if err := os.Setenv(variable, file); err != nil {
			return nil, "", fmt.Errorf("setting %s: %w", variable, err)
		}
		entry = "admin"
	}
	found, err := conformance.FromFile(entry)
	return &found, "", err
}

// onRealCloud measures on the second cloud, or says why not and returns nothing. Nothing is added to the time of a call there.
func (b bench) onRealCloud(ctx context.Context, entry string) (costs map[string]cost, err error) {
	target, why, err := find(entry)
	if err != nil {
		return nil, err
	}
	if target == nil {
		b.screen.Linef("  %s", why)
		return nil, nil
	}
	cloud, err := openstack.New(*target)
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
	defer func() {
		// The account goes, too, when Ctrl-C ended the measurement.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
		defer cancel()
		err = errors.Join(err, account.Remove(ctx))
	}()
	return b.costs(ctx, landscape.Place{Cloud: cloud, Account: account})
}

// compare returns an error that names the calls which differ between two clouds.
func compare(standIn, genuine map[string]cost) error {
	if genuine == nil {
		return nil
	}
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
				failures = append(failures, fmt.Errorf("%s: %s: %d on the stand-in, %d on the real cloud", row, name, here[name], there[name]))
			}
		}
	}
	return errors.Join(failures...)
}
