package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Result is how one behaviour fared on one cloud.
type Result struct {
	Area, Name string
	// Tried is false when the behaviour was left out, as go test -run does.
	Tried, Passed bool
	Exchanges     []Exchange
	Took          time.Duration
}

// Run tries all behaviours on one cloud, each as a subtest, in two projects that it makes and removes again. What a behaviour
// leaves behind fails its area. The progress gets a line for each area.
func Run(t *testing.T, cloud Cloud, progress io.Writer) []Result {
	t.Helper()
	one, other := tenant(t, cloud, "one"), tenant(t, cloud, "other")
	env, err := readEnvironment(t.Context(), one)
	require.NoError(t, err)

	var results []Result
	for _, area := range Areas() {
		t.Run(area.Name, func(t *testing.T) {
			start := time.Now()
			for _, b := range area.Behaviours {
				result := Result{Area: area.Name, Name: b.Name}
				start := time.Now()
				t.Run(b.Name, func(t *testing.T) {
					result.Tried = true
					c := newCase(t, one, other, env)
					t.Cleanup(func() { result.Passed, result.Exchanges = !t.Failed(), c.recorder.all })
					b.Check(c)
				})
				result.Took = time.Since(start)
				results = append(results, result)
			}
			for _, tenant := range []*Tenant{one, other} {
				left, err := tenant.Inventory(t.Context())
				require.NoError(t, err)
				assert.Empty(t, left, "left behind in %s", area.Name)
			}
			_, err := fmt.Fprintf(progress, "%8.1f s  %s: %s, %d behaviours\n", time.Since(start).Seconds(), cloud.Name, area.Name, len(area.Behaviours))
			require.NoError(t, err)
		})
	}
	return results
}

func tenant(t *testing.T, cloud Cloud, role string) *Tenant {
	t.Helper()
	var suffix [4]byte
	_, _ = rand.Read(suffix[:]) // never fails
	created, err := NewTenant(t.Context(), cloud, "conformance-"+role+"-"+hex.EncodeToString(suffix[:]))
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), waitTimeout)
		defer cancel()
		assert.NoError(t, created.Remove(ctx))
	})
	return created
}

func newCase(t *testing.T, one, other *Tenant, env environment) *Case {
	t.Helper()
	c := &Case{T: t, cloudClient: one.client, recorder: &recorder{placeholders: newPlaceholders(env.ranges...)}, External: env.external, Login: one.Login, OtherLogin: other.Login}
	c.Member, c.OtherMember, c.Operator = c.bind(one.member), c.bind(other.member), c.bind(one.operator)
	for id, word := range map[string]string{
		c.Member.ProjectID: "project", c.Member.UserID: "user", one.Project: "project name", one.User: "user name",
		c.OtherMember.ProjectID: "stranger's project", c.OtherMember.UserID: "stranger", other.Project: "stranger's project name", other.User: "stranger's name",
		c.Operator.ProjectID: "operator's project", c.Operator.UserID: "operator", env.external.ID(): "external network",
	} {
		c.SetPlaceholder(id, word)
	}
	for i, subnet := range env.external.Texts("subnets") {
		c.SetPlaceholder(subnet, "external subnet "+string(rune('a'+i)))
	}
	return c
}
