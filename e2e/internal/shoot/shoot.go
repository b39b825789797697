// Package shoot starts the cluster that a shoot's users see, without nodes: an API server as Gardener configures one, with
// RBAC, tokens for ServiceAccounts and the audience of Gardener's own tokens. Controllers and nodes are played as in a seed. It
// must not know the seed that the control plane runs in, nor what that consists of.
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
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/kcm"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
)

// timeout bounds how long a process takes to start, on a machine that compiles something else at the same time, or to end.
const timeout = 2 * time.Minute

// Cluster is the cluster of one shoot.
type Cluster struct {
	// Client is an administrator's and does not cache.
	Client client.Client
	// Kubeconfig is the path of an administrator's kubeconfig, Config what is in it, without client-side rate limits.
	Kubeconfig string
	Config     *rest.Config
	// CA is the certificate, in PEM, by which clients know the API server.
	CA []byte

	programs, dir string
	etcd, prefix  string
	address       string
	names         []string
	apiServer     *process.Process
	controllers   *process.Process
	kubelets      *workload.Kubelets
}

// Option changes how a cluster is started.
type Option func(*Cluster)

// WithAddress has the API server listen at an IP address of this machine instead of loopback, and be known by further DNS names, so that
// it can be reached from elsewhere.
func WithAddress(address string, names ...string) Option {
	return func(c *Cluster) { c.address, c.names = address, names }
}

// Start starts the cluster from the programs in the folder programs. What it holds is kept in an etcd that is there, e.g. the
// seed's; everything else that is written goes to dir, which the caller removes after Stop.
func Start(ctx context.Context, programs, dir, etcd string, options ...Option) (*Cluster, error) {
	c := &Cluster{programs: programs, dir: dir, etcd: etcd, prefix: "/shoot-" + random(4), address: "127.0.0.1"}
	for _, option := range options {
		option(c)
	}
	var err error
	if c.address, err = process.FreeAddressAt(c.address); err != nil {
		return nil, err
	}
	if err := c.writeFiles(); err != nil {
		return nil, fmt.Errorf("writing what the shoot's API server reads: %w", err)
	}
	if c.Client, err = client.New(c.Config, client.Options{Scheme: kubernetes.ShootScheme}); err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	if err := c.WakeUp(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// URL is where the API server is, and Address the same without a scheme.
func (c *Cluster) URL() string { return "https://" + c.address }

// Address is the IP address of the API server, with its port.
func (c *Cluster) Address() string { return c.address }

// KubeconfigOf returns the path of a kubeconfig with a token of a ServiceAccount of kube-system, as a kubelet gives it to its pods.
func (c *Cluster) KubeconfigOf(ctx context.Context, serviceAccount string) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: serviceAccount, Namespace: metav1.NamespaceSystem}}
	request := &authenticationv1.TokenRequest{}
	if err := c.Client.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("asking for a token of ServiceAccount %s: %w", serviceAccount, err)
	}
	kubeconfig, err := c.kubeconfig(request.Status.Token)
	if err != nil {
		return "", err
	}
	path := c.path(serviceAccount + ".kubeconfig")
	return path, os.WriteFile(path, kubeconfig, 0o600)
}

// Kubelets are those of the shoot's nodes. They are others after each Wake.
func (c *Cluster) Kubelets() *workload.Kubelets { return c.kubelets }

// WakeUp starts what Sleep has ended. Nothing is lost in between, and the address is the same.
func (c *Cluster) WakeUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var err error
	if c.apiServer, err = process.Start(filepath.Join(c.programs, apiServer), c.args(), nil, c.path(apiServer+".log")); err != nil {
		return err
	}
	if err := c.apiServer.WaitForTLS(ctx, c.URL()+"/readyz"); err != nil {
		return fmt.Errorf("starting the shoot's API server: %w", err)
	}
	if c.controllers, err = kcm.Start(ctx, c.programs, c.dir, c.Kubeconfig, kcm.Disruption); err != nil {
		return err
	}
	c.kubelets, err = workload.Start(ctx, c.Config, workload.OnNodes())
	return err
}

// Hibernate ends all processes, as when a shoot hibernates. The API server is not asked: it would wait a minute for all who watch
// something to leave, and loses nothing.
func (c *Cluster) Hibernate() error {
	var err error
	if c.kubelets != nil {
		err = c.kubelets.Stop()
	}
	for _, p := range []*process.Process{c.controllers, c.apiServer} {
		if p != nil {
			p.Kill()
		}
	}
	c.kubelets, c.controllers, c.apiServer = nil, nil, nil
	return err
}

// Stop is Sleep for ever.
func (c *Cluster) Stop() error { return c.Hibernate() }

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }
