package landscape

import (
	"context"
	"io"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/shoot"
)

// StartCluster starts a shoot's cluster, and prepares the seed for the ControlPlane as gardenlet does: with the cluster's address and a
// gardener-resource-manager. There is one such shoot at a time.
func (l *Landscape) StartCluster(ctx context.Context, of *gardenlet.Shoot) error {
	l.hosted = of
	for _, step := range []step{{"cluster", l.startCluster}, {"resources", l.hostCluster}} {
		if err := l.do(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

func (l *Landscape) startCluster(ctx context.Context, _ io.Writer) (string, error) {
	dir, err := l.folder("shoot")
	if err != nil {
		return "", err
	}
	if l.Cluster, err = shoot.Start(ctx, l.Programs, dir, l.Seed.Etcd()); err != nil {
		return "", err
	}
	return "the shoot's API server at " + l.Cluster.URL() + ", kube-controller-manager", nil
}

func (l *Landscape) hostCluster(ctx context.Context, _ io.Writer) (string, error) {
	return "gardener-resource-manager, kubeconfigs and tokens in the seed", l.hosting.Host(ctx, l.hosted, l.Cluster)
}

// RetireCluster does what gardenlet does after the ControlPlane is gone, and stops the cluster.
func (l *Landscape) RetireCluster(ctx context.Context) error {
	return l.do(ctx, step{"cluster", func(ctx context.Context, _ io.Writer) (string, error) {
		if err := l.Gardenlet.RemoveAccess(ctx, l.hosted); err != nil {
			return "", err
		}
		return "the shoot's API server has ended", l.StopCluster()
	}})
}

// StopCluster kills the cluster, if there is one.
func (l *Landscape) StopCluster() error {
	if l.Cluster == nil {
		return nil
	}
	l.hosting.StopShootManager(l.hosted)
	cluster := l.Cluster
	l.Cluster = nil
	return cluster.Stop()
}
