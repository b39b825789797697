package openstack

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// TestNewAccount_ContextCanceled lets the caller give up at one of the calls that make an account.
func TestNewAccount_ContextCanceled(t *testing.T) {
	for description, at := range map[string]wire.Event{
		"before the project is made":       {Phase: wire.Before, Call: wire.Call{Method: http.MethodPost, Path: "/v3/projects"}},
		"before the project's ID is known": {Phase: wire.After, Call: wire.Call{Method: http.MethodPost, Path: "/v3/projects"}},
		"before the user's ID is known":    {Phase: wire.After, Call: wire.Call{Method: http.MethodPost, Path: "/v3/users"}},
		"when its roles are looked up":     {Phase: wire.Before, Call: wire.Call{Method: http.MethodGet, Path: "/v3/roles"}},
	} {
		t.Run(description, func(t *testing.T) {
			cloud, err := NewFake()
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
			ctx, cancel := context.WithCancel(t.Context())
			cloud.Fake.SetHook(func(event wire.Event) wire.HookResult {
				if event.Phase == at.Phase && event.Call.Method == at.Call.Method && event.Call.Path == at.Call.Path {
					cancel()
				}
				return wire.Proceed
			})
			_, err = cloud.NewAccount(ctx, "given-up")
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, ctx.Err(), context.Canceled)

			cloud.Fake.SetHook(nil)
			observer, err := cloud.NewAccount(t.Context(), "observer")
			require.NoError(t, err)
			for _, kind := range []string{"projects", "users"} {
				answer, err := observer.DoAsOperator(t.Context(), http.MethodGet, conformance.Identity, "/v3/"+kind, nil)
				require.NoError(t, err)
				require.NotEmpty(t, answer.Objects(kind))
				for _, object := range answer.Objects(kind) {
					assert.False(t, strings.HasPrefix(object.Text("name"), "given-up"), "%s: %v", kind, object)
				}
			}
		})
	}
}

func TestAccount_Renew(t *testing.T) {
	cloud, err := NewFake()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	account, err := cloud.NewAccount(t.Context(), "renewed")
	require.NoError(t, err)
	cloud.Fake.RevokeTokens()
	_, err = account.Resources(t.Context())
	require.ErrorContains(t, err, "401")
	require.NoError(t, account.Renew(t.Context()))
	_, err = account.Resources(t.Context())
	require.NoError(t, err)
	require.NoError(t, account.Remove(t.Context()), "the operator's token was renewed, too")
}
