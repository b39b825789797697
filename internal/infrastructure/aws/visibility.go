package aws

import (
	"context"
	"fmt"
	"time"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/contract"
)

// A new resource may be missing in lists for some seconds ("eventual consistency", EC2's API reference). So a resource that is recorded, or that may have been
// created, and that is not listed, does not exist only if the last creation was long enough ago. The session remembers what it has created; what is here
// serves the processes that come after it.

// keyLastCreate is the time of the last creation, in RFC 3339.
const keyLastCreate = awsv1alpha1.StateKeyPrefix + "lastCreate"

// lookAgainAfter is the longest time until it is tried again whether a resource is listed.
const lookAgainAfter = 5 * time.Second

// recordCreated records a resource that was created just now.
func (rec *reconciliation) recordCreated(k kind, id string) {
	rec.recordOwn(k, id)
	rec.updateState(func(s *state) { s.SetFact(keyLastCreate, rec.now().UTC().Format(time.RFC3339Nano)) })
}

// untilLastVisible returns how long it takes until everything that was created is listed; not positive if it is.
func (rec *reconciliation) untilLastVisible() time.Duration {
	last, err := time.Parse(time.RFC3339, rec.state.Fact(keyLastCreate))
	if err != nil {
		return 0
	}
	return rec.visibleAfter - rec.now().Sub(last)
}

// untilKnown returns how long it takes until it is known whether a resource exists that is not listed; not positive if it is. The repetition of a request with
// a client token, or for a unique name, returns the same resource unless it is recorded.
func (rec *reconciliation) untilKnown(k kind, repeatable bool) time.Duration {
	if id := rec.state.ID(k); id != "" && !rec.observed.has(k, id) {
		return rec.untilLastVisible()
	}
	if since, uncertain := rec.state.UncertainSince(k); uncertain && !repeatable {
		return rec.visibleAfter - rec.now().Sub(since)
	}
	return 0
}

// has reports whether a resource of a kind was read.
func (o *observation) has(k kind, id string) bool {
	switch k {
	case kindRole:
		return o.role != nil
	case kindProfile:
		return o.profile != nil
	case kindKeyPair:
		return o.keyPair != nil
	case kindVPC:
		return o.vpc != nil
	case kindDHCPOptions:
		return o.dhcpOptions != nil
	case kindInternetGateway:
		return o.gateway != nil
	case kindEgressOnlyGateway:
		return o.egressOnlyGateway != nil
	case kindNodesGroup:
		return o.nodesGroup != nil
	default:
		return contains(o.subnets, id) || contains(o.tables, id) || contains(o.natGateways, id) || contains(o.addresses, id) || contains(o.endpoints, id)
	}
}

func contains[R cloudaws.Resource](found []R, id string) bool {
	for _, one := range found {
		if idOf(one) == id {
			return true
		}
	}
	return false
}

// notListedYet is the error for a resource of which it is not known whether it exists.
func notListedYet(what string, left time.Duration) error {
	return &cloud.Error{
		Kind: cloud.Unavailable, RetryAfter: min(left, lookAgainAfter),
		Message: fmt.Sprintf("the %s was created before, or the response to its creation was lost, and AWS does not list it yet", what),
	}
}

// awaitUncertain waits, before it is looked for what is left, until AWS lists what a process may have created that ended meanwhile.
func (rec *reconciliation) awaitUncertain(ctx context.Context, kinds []kind) error {
	rec.updateState(func(s *state) {
		for _, k := range kinds {
			if s.Intent(k) != "" && !s.IsUncertain(k) {
				s.MarkUncertain(k, rec.now())
			}
		}
	})
	return contract.WaitUntil(ctx, func(context.Context) (string, error) {
		for _, k := range kinds {
			if since, uncertain := rec.state.UncertainSince(k); uncertain && rec.now().Sub(since) < rec.visibleAfter {
				return fmt.Sprintf("a creation (%s) has an unknown result, and AWS may not list the resource yet", k), nil
			}
		}
		return "", nil
	})
}
