package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws"
)

// Area is a part of AWS.
type Area struct {
	Name       string
	Behaviours []Behaviour
}

// Behaviour is one thing that Trellis relies on.
type Behaviour struct {
	// Name is a sentence without a full stop.
	Name   string
	Source Source
	// Check tries it. It leaves nothing behind.
	Check func(*Case)
}

// Areas returns all behaviours. Their names are unique.
func Areas() []Area {
	return []Area{
		{"VPCs", vpcs()},
		{"IPv6", ipv6()},
		{"subnets", subnets()},
		{"gateways", gateways()},
		{"NAT gateways and elastic IPs", natGateways()},
		{"route tables", routeTables()},
		{"security groups", securityGroups()},
		{"tags and lists", tagsAndLists()},
		{"key pairs", keyPairs()},
		{"roles and instance profiles", identities()},
		{"load balancers", loadBalancers()},
	}
}

// Run checks all behaviours in an account, each as a subtest.
func Run(t *testing.T, account Account) {
	t.Helper()
	session, err := account.session(t.Context())
	require.NoError(t, err)
	for _, area := range Areas() {
		t.Run(area.Name, func(t *testing.T) {
			for _, b := range area.Behaviours {
				t.Run(b.Name, func(t *testing.T) { b.Check(newCase(t, session, account)) })
			}
		})
	}
}

// Case is one behaviour being checked.
type Case struct {
	*testing.T

	s *aws.Session
	// zone is a zone of the region.
	zone string
	// name is unique to the case. All that it makes has it as a name.
	name string
	// timeout bounds waits. NAT gateways take minutes in a real account.
	timeout time.Duration
}

func newCase(t *testing.T, session *aws.Session, account Account) *Case {
	t.Helper()
	var suffix [4]byte
	_, _ = rand.Read(suffix[:]) // never fails
	return &Case{T: t, s: session, zone: account.Zone, name: "trellis-conformance-" + hex.EncodeToString(suffix[:]), timeout: account.Timeout}
}

// tags are those of everything that the case makes.
func (c *Case) tags() aws.Tags {
	return aws.Tags{"Name": c.name, "kubernetes.io/cluster/" + c.name: "owned"}
}

// cleanup deletes something at the end of the case. What is gone already is fine, and what is still in use is awaited.
func (c *Case) cleanup(remove func(ctx context.Context) error) {
	c.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), c.timeout) // the case's own has ended
		defer cancel()
		for {
			err := remove(ctx)
			kind := cloud.KindOf(err)
			if err == nil || kind == cloud.NotFound {
				return
			}
			if kind != cloud.InUse && kind != cloud.Conflict || ctx.Err() != nil {
				c.Errorf("cleaning up: %v", err)
				return
			}
			select {
			case <-time.After(interval(c.timeout)):
			case <-ctx.Done():
			}
		}
	})
}

// eventually waits until something is so.
func (c *Case) eventually(what string, condition func() bool) {
	c.Helper()
	require.Eventually(c, condition, c.timeout, interval(c.timeout), what)
}

// interval is the pause between two looks.
func interval(timeout time.Duration) time.Duration {
	return min(max(timeout/1000, 5*time.Millisecond), 5*time.Second)
}

// requireKind requires an error of a kind, with AWS' code.
func (c *Case) requireKind(err error, kind cloud.Kind, code string) {
	c.Helper()
	require.Error(c, err)
	assert.Equal(c, code, aws.CodeOf(err))
	assert.Equal(c, kind, cloud.KindOf(err), "%v", err)
}

// must returns a result that is there.
func must[T any](c *Case) func(result T, err error) T {
	return func(result T, err error) T {
		c.Helper()
		require.NoError(c, err)
		return result
	}
}
