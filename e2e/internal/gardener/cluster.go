package gardener

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/kcm"
	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// auditPolicy records who asks for what and how it is answered: all requests, without bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: Metadata
`

// Cluster is a cluster with its own etcd, kube-apiserver and kube-controller-manager.
type Cluster struct {
	Name string
	// Dir is the folder of its files and logs.
	Dir string
	// Kubeconfig is the path of an administrator's kubeconfig, Config its content, without client-side rate limits.
	Kubeconfig string
	Config     *rest.Config
	// Client is an administrator's, and does not cache.
	Client client.Client
	// Audit is the log of all requests.
	Audit audit.Log

	programs  string
	etcd      *envtest.Etcd
	server    *apiserver.Server
	processes processes
}

// clusterOptions configure a cluster.
type clusterOptions struct {
	name, dir string
	// api and etcd are the addresses of the API server and of its etcd.
	api, etcd string
	services  netip.Prefix
	scheme    *runtime.Scheme
	// args are further arguments of the API server.
	args []string
}

// startCluster starts a cluster from the programs in the folder programs.
func startCluster(ctx context.Context, programs string, options clusterOptions) (*Cluster, error) {
	c := &Cluster{Name: options.name, Dir: options.dir, programs: programs}
	if err := c.start(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("starting cluster %s: %w", options.name, err), c.stop(ctx))
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, options clusterOptions) error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	var err error
	if c.etcd, err = apiserver.StartEtcdAt(c.programs, filepath.Join(c.Dir, "etcd"), etcdURL(options.etcd)); err != nil {
		return err
	}
	first := options.services.Masked().Addr().Next()
	if c.server, err = apiserver.NewServer(c.programs, apiserver.ServerOptions{
		Dir: c.Dir, Etcd: c.etcd.URL.String(), IP: options.api, Port: httpsPort, ServiceRanges: options.services.String(),
		Names: []string{"kubernetes", "kubernetes.default"}, IPs: []net.IP{first.AsSlice()},
		AuditPolicy: auditPolicy,
		Args: append([]string{
			"--endpoint-reconciler-type=lease", // pods find the API server behind the Service kubernetes
			"--service-account-issuer=https://kubernetes.default.svc." + c.Name,
			"--api-audiences=https://kubernetes.default.svc." + c.Name + ",kubernetes,gardener",
		}, options.args...),
	}); err != nil {
		return err
	}
	c.Kubeconfig, c.Config, c.Audit = c.server.Kubeconfig, c.server.Config, c.server.AuditLog()
	if err := c.server.Start(ctx); err != nil {
		return err
	}
	if c.Client, err = client.New(c.Config, client.Options{Scheme: options.scheme}); err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	return c.startControllers(ctx)
}

// startControllers starts kube-controller-manager with the controllers that do not need a cloud or a kubelet.
func (c *Cluster) startControllers(ctx context.Context) error {
	off := []string{
		"service-lb-controller", "node-ipam-controller", "node-route-controller", "node-lifecycle-controller", "taint-eviction-controller",
		"persistentvolume-binder-controller", "persistentvolume-attach-detach-controller", "horizontal-pod-autoscaler-controller",
	}
	started, err := kcm.StartWith(ctx, c.programs, c.Dir, c.Kubeconfig,
		"--controllers=*,-"+strings.Join(off, ",-"),
		"--root-ca-file="+filepath.Join(c.Dir, "ca.crt"),
		"--service-account-private-key-file="+filepath.Join(c.Dir, "service-account.key"),
		"--concurrent-deployment-syncs=5",
	)
	if err != nil {
		return err
	}
	c.processes.add(kcm.Name, started)
	return nil
}

// startProcess starts a program that is stopped with the cluster.
func (c *Cluster) startProcess(name, path string, args, env []string) (*process.Process, error) {
	started, err := process.Start(path, args, env, filepath.Join(c.Dir, name+".log"))
	if err != nil {
		return nil, err
	}
	c.processes.add(name, started)
	return started, nil
}

// stop stops what was started last first: clients of the API server before it, and it before its etcd.
func (c *Cluster) stop(ctx context.Context) error {
	c.processes.stop(ctx)
	if c.server != nil {
		c.server.Kill()
	}
	if c.etcd != nil {
		if err := c.etcd.Stop(); err != nil {
			return fmt.Errorf("stopping the etcd of %s: %w", c.Name, err)
		}
	}
	return nil
}
