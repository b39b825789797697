// Package seeds is the way into seeds, whichever way there is: the operator's own cluster, a managed seed through the garden, or a kubeconfig that an
// admin has stored. It must not know what is done in a seed.
package seeds

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster is a seed that can be spoken to.
type Cluster struct {
	// Client does not cache. Each of its requests has a deadline, and fails with an Unreachable when nobody answers, or nobody can hold the answer. What the API server itself
	// answers is none, also not an Unauthorized: To returns a client with other credentials then, or says why there are none.
	Client client.Client
	// KubernetesVersion is that of the API server, e.g. "v1.36.3".
	KubernetesVersion string
}

// Access leads into seeds. It may be used by many at once.
type Access interface {
	// Connect returns the cluster of a seed, with credentials that are valid for a while: callers ask for each piece of work anew. It fails with an
	// Unreachable when the seed cannot be reached, also at once when that was so a moment ago.
	Connect(ctx context.Context, seed *gardencorev1beta1.Seed) (*Cluster, error)
	// Forget drops all that is known of a seed that is gone. Clients that somebody still holds go on to work.
	Forget(seed string)
}

// Unreachable is the error of a seed that cannot be reached. That is nobody's mistake, unless the message says so: it goes away by itself, or when
// somebody gives access.
type Unreachable struct { //nolint:errname // it is a state of the world, and no more an error than that
	Seed string
	Err  error
	// NoAccess is true when there are no credentials for the seed, or when it does not accept those that there are. Whether it works, and what runs in it
	// does, is not known then.
	NoAccess bool
}

var _ error = (*Unreachable)(nil)

// Error implements error.
func (u *Unreachable) Error() string { return fmt.Sprintf("reaching seed %s: %v", u.Seed, u.Err) }

// Unwrap returns the cause.
func (u *Unreachable) Unwrap() error { return u.Err }
