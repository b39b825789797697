package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestCompare(t *testing.T) {
	calls := func(methods ...string) map[string]cost {
		var log wire.Calls
		for _, method := range methods {
			log = append(log, wire.Call{Service: services.Neutron, Method: method, Path: "/v2.0/networks"})
		}
		return map[string]cost{rowFirst: {log: log}}
	}
	for sentence, c := range map[string]struct {
		standIn, genuine map[string]cost
		wantText         []string
	}{
		"the same calls, in any order": {calls("GET", "POST"), calls("POST", "GET"), nil},
		"a call more on the real cloud": {
			calls("GET"), calls("GET", "GET"), []string{"first: neutron GET /v2.0/networks: 1 on the fake, 2 on the real cloud"},
		},
		"another call": {calls("GET"), calls("PUT"), []string{
			"first: neutron GET /v2.0/networks: 1 on the fake, 0 on the real cloud",
			"first: neutron PUT /v2.0/networks: 0 on the fake, 1 on the real cloud",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := compare(c.standIn, c.genuine)
			if c.wantText == nil {
				require.NoError(t, err)
			}
			for _, wantText := range c.wantText {
				assert.ErrorContains(t, err, wantText)
			}
		})
	}
}

// writeClouds writes a clouds.yaml with the entries admin and mine.
func writeClouds(t *testing.T, path, authURL string) {
	t.Helper()
	entry := fmt.Sprintf("{region_name: %s, auth: {auth_url: %q, username: %s, password: %s, project_name: %s, user_domain_name: Default, project_domain_name: Default}}",
		fake.DefaultRegion, authURL, fake.AdminUser, fake.AdminPassword, fake.AdminProject)
	require.NoError(t, os.WriteFile(path, []byte("clouds:\n  admin: "+entry+"\n  mine: "+entry+"\n"), 0o600))
}

func startCloud(t *testing.T) *fake.Cloud {
	t.Helper()
	cloud := fake.New()
	require.NoError(t, cloud.Start("127.0.0.1:0"))
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	return cloud
}

func TestFind(t *testing.T) {
	userConfig, stateDir := t.TempDir()+"/clouds.yaml", t.TempDir()
	writeClouds(t, userConfig, "https://keystone.example.org/v3")
	t.Setenv("OS_CLIENT_CONFIG_FILE", userConfig)
	t.Setenv("OS_CLOUD", "mine")

	target, _, err := find(t.Context(), options{entry: "mine", dir: stateDir})
	require.NoError(t, err)
	assert.Equal(t, "https://keystone.example.org/v3", target.AuthURL)
	_, _, err = find(t.Context(), options{entry: "another", dir: stateDir})
	require.ErrorContains(t, err, `cloud "another"`)

	target, why, err := find(t.Context(), options{dir: stateDir})
	require.NoError(t, err)
	assert.Nil(t, target, "OS_CLOUD alone leads nowhere")
	assert.Contains(t, why, "has brought no real cloud up")

	cloud := startCloud(t)
	writeClouds(t, stateDir+"/clouds.yaml", cloud.AuthURL())
	target, _, err = find(t.Context(), options{dir: stateDir})
	require.NoError(t, err)
	assert.Equal(t, cloud.AuthURL(), target.AuthURL)
}

func TestRealCloudColumn_Unavailable(t *testing.T) {
	t.Setenv("OS_CLIENT_CONFIG_FILE", "") // is set meanwhile
	for sentence, c := range map[string]struct {
		prepare  func(t *testing.T, dir string)
		wantText string
	}{
		"nothing there": {func(*testing.T, string) {}, "no second column: make openstack-up has brought no real cloud up, and --cloud names none"},
		"it does not run": {func(t *testing.T, dir string) {
			address, err := process.FreeAddress()
			require.NoError(t, err)
			writeClouds(t, dir+"/clouds.yaml", "http://"+address+"/v3")
		}, "no second column: the real cloud does not run: "},
		"it is not readable": {func(t *testing.T, dir string) {
			if os.Geteuid() == 0 {
				t.Skip("root may read everything")
			}
			writeClouds(t, dir+"/clouds.yaml", "http://127.0.0.1:5000/v3")
			require.NoError(t, os.Chmod(dir+"/clouds.yaml", 0))
		}, "no second column: the real cloud is somebody else's: open "},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			c.prepare(t, dir)
			screen, read := newScreen(t)
			require.NoError(t, bench{screen: screen}.addRealCloudColumn(t.Context(), options{dir: dir}, nil))
			assert.Contains(t, read(), c.wantText)
		})
	}
}

// newScreen returns a screen and its output.
func newScreen(t *testing.T) (screen *terminal.Screen, read func() string) {
	t.Helper()
	file, err := os.Create(t.TempDir() + "/screen")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, file.Close()) })
	return terminal.New(file), func() string {
		content, err := os.ReadFile(file.Name())
		require.NoError(t, err)
		return string(content)
	}
}

// content are all resources and projects of a cloud.
func content(t *testing.T, cloud *fake.Cloud) []any {
	t.Helper()
	projects, err := cloud.DoAsOperator(fake.AdminProject, http.MethodGet, services.Keystone, "/v3/projects", nil)
	require.NoError(t, err)
	return []any{cloud.State(""), projects}
}

// TestRealCloud_CleansUp uses another fake as the real cloud.
func TestRealCloud_CleansUp(t *testing.T) {
	cloud := startCloud(t)
	target := conformance.Cloud{
		Name: "real", AuthURL: cloud.AuthURL(), Region: fake.DefaultRegion, ExternalNetwork: fake.ExternalNetwork,
		Operator: conformance.Login{User: fake.AdminUser, Password: fake.AdminPassword, Project: fake.AdminProject},
	}
	before := content(t, cloud)
	screen, read := newScreen(t)
	b := startBench(t, screen)

	costs, err := b.onRealCloud(t.Context(), target)
	require.NoError(t, err)
	assert.Len(t, costs, len(rows()))
	assert.Equal(t, before, content(t, cloud), "after a measurement")
	require.NotNil(t, b.Infrastructure)

	ctx, cancel := context.WithCancel(t.Context())
	atFirstCreate(cloud, cancel)
	_, err = b.onRealCloud(ctx, target)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, before, content(t, cloud), "after Ctrl-C")
	assert.Nil(t, b.Infrastructure, "nothing is made any more")
	assert.Contains(t, read(), "removing project ")

	b = startBench(t, screen)
	atFirstCreate(cloud, b.Infrastructure.Kill)
	_, err = b.onRealCloud(t.Context(), target)
	require.ErrorIs(t, err, errEnded)
	require.ErrorContains(t, err, "is not empty: [network ", "without a controller, what is left is named")
	assert.NotEqual(t, before, content(t, cloud))
}

func startBench(t *testing.T, screen *terminal.Screen) bench {
	t.Helper()
	l, err := landscape.Start(t.Context(), screen, landscape.Options{Cloud: openstack.OpenFake})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Stop()) })
	l.Source.Gardenlet.Interval = 10 * time.Millisecond
	return bench{Landscape: l, screen: screen}
}

// atFirstCreate calls a function when the first network exists and the response is not sent yet.
func atFirstCreate(cloud *fake.Cloud, do func()) {
	var once sync.Once
	cloud.SetHook(func(event wire.Event) wire.HookResult {
		if event.Phase == wire.After && event.Call.Method == http.MethodPost && event.Call.Path == "/v2.0/networks" {
			once.Do(do)
		}
		return wire.Proceed
	})
}
