package garden

import (
	"context"

	"github.com/trellis-garden/trellis/e2e/internal/account"
)

// KubeconfigOf returns the path of a kubeconfig with a token of a ServiceAccount of the garden, as gardener-resource-manager provides it to
// programs in the runtime cluster.
func (g *Garden) KubeconfigOf(ctx context.Context, namespace, serviceAccount string) (string, error) {
	return account.Kubeconfig(ctx, g.Client, g.Config, g.dir, namespace, serviceAccount)
}
