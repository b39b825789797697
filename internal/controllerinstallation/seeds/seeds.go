// Package seeds connects to seeds: to the operator's own cluster, to a managed seed with credentials from the garden, or with a kubeconfig that an
// admin has stored. It must not know what the operator does in a seed.
package seeds

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster is a seed with a client for it.
type Cluster struct {
	// Client does not cache. Each of its requests has a deadline, and fails with an Unreachable if there is no response, or one that exceeds the
	// limits. A response of the API server is never an Unreachable. After Unauthorized, Connect returns a client with other credentials, or an error.
	Client client.Client
	// KubernetesVersion is that of the API server, e.g. "v1.36.3".
	KubernetesVersion string
}

// Access connects to seeds. It is safe for concurrent use.
type Access interface {
	// Connect returns the cluster of a seed, with credentials that are valid for a while, so callers must call it for each reconciliation. It fails
	// with an Unreachable if the seed cannot be reached; it fails at once if that was so a moment ago.
	Connect(ctx context.Context, seed *gardencorev1beta1.Seed) (*Cluster, error)
	// Forget drops the connection to a seed that was deleted. Clients that are still in use remain usable.
	Forget(seed string)
}

// Unreachable is the error of a seed that cannot be reached. It is transient, or disappears when an admin grants access as the message says.
type Unreachable struct { //nolint:errname // it is a state of the world, and no more an error than that
	Seed string
	Err  error
	// NoAccess is true if there are no credentials for the seed, or if it rejects them. The health of the seed is unknown then.
	NoAccess bool
}

var _ error = (*Unreachable)(nil)

// Error implements error.
func (u *Unreachable) Error() string { return fmt.Sprintf("reaching seed %s: %v", u.Seed, u.Err) }

// Unwrap returns the cause.
func (u *Unreachable) Unwrap() error { return u.Err }
