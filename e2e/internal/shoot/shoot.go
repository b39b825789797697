// Package shoot starts a shoot's cluster without nodes: an API server with Gardener's configuration, RBAC, tokens for ServiceAccounts and the
// audience of Gardener's own tokens. Controllers run, and nodes are simulated, as in a seed. The package must not depend on the seed or the
// control plane.
package shoot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
	"github.com/trellis-garden/trellis/e2e/internal/kcm"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
)

// timeout bounds the start and the end of a process, on a machine that compiles at the same time.
const timeout = 2 * time.Minute

// Cluster is the cluster of one shoot.
type Cluster struct {
	*apiserver.Server
	// Client is an administrator's client and does not cache.
	Client client.Client

	programs, dir string
	controllers   *process.Process
	kubelets      *workload.Kubelets
}

// Option configures a cluster.
type Option func(*apiserver.ServerOptions)

// WithAddress makes the API server listen at an IP address of this machine instead of loopback, with further DNS names in its certificate.
func WithAddress(address string, names ...string) Option {
	return func(o *apiserver.ServerOptions) { o.IP, o.Names = address, names }
}

// Start starts the cluster from the programs in the folder programs. Its objects are in an existing etcd, e.g. the seed's; all files are in dir,
// which the caller removes after Stop.
func Start(ctx context.Context, programs, dir, etcd string, options ...Option) (*Cluster, error) {
	settings := apiserver.ServerOptions{Dir: dir, Etcd: etcd, AuditPolicy: auditPolicy}
	for _, option := range options {
		option(&settings)
	}
	c := &Cluster{programs: programs, dir: dir}
	var err error
	if c.Server, err = apiserver.NewServer(programs, settings); err != nil {
		return nil, err
	}
	if c.Client, err = client.New(c.Config, client.Options{Scheme: kubernetes.ShootScheme}); err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	if err := c.WakeUp(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// KubeconfigOf returns the path of a kubeconfig with a token of a ServiceAccount of kube-system, as a kubelet gives it to its pods.
func (c *Cluster) KubeconfigOf(ctx context.Context, serviceAccount string) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: serviceAccount, Namespace: metav1.NamespaceSystem}}
	request := &authenticationv1.TokenRequest{}
	if err := c.Client.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("asking for a token of ServiceAccount %s: %w", serviceAccount, err)
	}
	kubeconfig, err := c.KubeconfigWith(request.Status.Token)
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.dir, serviceAccount+".kubeconfig")
	return path, os.WriteFile(path, kubeconfig, 0o600)
}

// Kubelets are the simulated kubelets of the shoot's nodes. They are replaced by each WakeUp.
func (c *Cluster) Kubelets() *workload.Kubelets { return c.kubelets }

// WakeUp starts what Hibernate has stopped, with the same objects and the same address.
func (c *Cluster) WakeUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := c.Server.Start(ctx); err != nil {
		return fmt.Errorf("shoot: %w", err)
	}
	var err error
	if c.controllers, err = kcm.Start(ctx, c.programs, c.dir, c.Kubeconfig, kcm.Disruption); err != nil {
		return err
	}
	c.kubelets, err = workload.Start(ctx, c.Config, workload.OnNodes())
	return err
}

// Hibernate kills all processes, as when a shoot is hibernated.
func (c *Cluster) Hibernate() error {
	var err error
	if c.kubelets != nil {
		err = c.kubelets.Stop()
	}
	if c.controllers != nil {
		c.controllers.Kill()
	}
	c.Kill()
	c.kubelets, c.controllers = nil, nil
	return err
}

// Stop is Hibernate for the last time.
func (c *Cluster) Stop() error { return c.Hibernate() }
