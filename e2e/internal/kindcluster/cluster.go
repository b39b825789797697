// Package kindcluster runs a cluster by kind (sigs.k8s.io/kind, as a library) in containers of this machine's Docker: created from a given node
// image, with a kubeconfig of its own, and with an audit log that the host can read. It must not depend on what runs in the cluster, or on the
// origin of the node image.
//
// It needs a Docker daemon on this machine: folders of the host are mounted into nodes, and pods connect to processes of the host by the bridge of
// Docker's network.
package kindcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/kind/pkg/cluster"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// readyTimeout bounds the time from the API server's first response until the cluster is ready, on a machine that compiles at the same time.
const readyTimeout = 4 * time.Minute

// WithoutKubeProxy is the mode of a cluster that has none. kind's API accepts it, but has no name for it.
const WithoutKubeProxy v1alpha4.ProxyMode = "none"

// Options describe a cluster.
type Options struct {
	// Name is the cluster's name, and the prefix of its containers' names: at most 50 lower-case letters, digits and dashes. A cluster of that name
	// that another process has left is deleted first.
	Name string
	// Image is a node image in kind's format that Docker has or can pull.
	Image string
	// Dir is an existing folder for the kubeconfig, the audit log, and logs of the nodes if the cluster does not become ready. The caller removes it
	// after Delete.
	Dir string
	// Nodes is the number of nodes; default 1. The first is the control plane's; pods run there only if it is the only one.
	Nodes int
	// IPFamily is the family of pods and Services; default IPv4.
	IPFamily v1alpha4.ClusterIPFamily
	// KubeProxy is the mode of kube-proxy; the default is kind's. WithoutKubeProxy, Network has to route Services.
	KubeProxy v1alpha4.ProxyMode
	// Network is the network of pods; nil for the one that the node image has.
	Network *Network
	// Progress gets a line for each completed step; nil discards them.
	Progress io.Writer
}

// Network is a network of pods.
type Network struct {
	// Images are the paths of archives with its images, as for Load.
	Images []string
	// Manifest is its objects in YAML.
	Manifest string
}

// Cluster is a running cluster.
type Cluster struct {
	// Name is the name in Options.
	Name string
	// Kubeconfig is the path of an administrator's kubeconfig, Config its content, without client-side rate limits.
	Kubeconfig string
	Config     *rest.Config

	dir      string
	log      *logger
	provider *cluster.Provider
	unlock   func()
}

// Start creates a cluster and waits until all its nodes and all that kind installs are ready. If that fails, or ctx ends before, the cluster is
// deleted; the error names the folder with the logs. Two processes of one checkout that use a cluster of the same name wait for each other.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, fmt.Errorf("finding the folder of cluster %s: %w", options.Name, err)
	}
	unlock, err := lock(options.Name)
	if err != nil {
		return nil, err
	}
	progress := options.Progress
	if progress == nil {
		progress = io.Discard
	}
	c := &Cluster{
		Name: options.Name, Kubeconfig: filepath.Join(dir, "admin.kubeconfig"),
		dir: dir, unlock: unlock, log: newLogger(progress),
	}
	c.provider = cluster.NewProvider(cluster.ProviderWithDocker(), cluster.ProviderWithLogger(c.log))
	if err := c.start(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("creating cluster %s: %w", c.Name, err), c.deleteFailed())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, options Options) error {
	if err := c.provider.Delete(c.Name, c.Kubeconfig); err != nil {
		return fmt.Errorf("deleting what is left of an older one: %w", err)
	}
	if err := c.prepareAudit(); err != nil {
		return fmt.Errorf("preparing the audit log: %w", err)
	}
	if err := c.create(ctx, options); err != nil {
		return err
	}
	var err error
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	c.Config.QPS = -1
	if options.Network != nil {
		if err := c.deployNetwork(ctx, *options.Network); err != nil {
			return err
		}
		c.log.done("Deploying the network of pods")
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := waitUntilReady(ctx, c.Config); err != nil {
		return err
	}
	c.log.done("Waiting until all is ready")
	return nil
}

// create calls kind, which accepts no context: when ctx ends, the nodes are deleted, so that kind fails.
func (c *Cluster) create(ctx context.Context, options Options) error {
	done := make(chan error, 1)
	go func() {
		done <- c.provider.Create(c.Name,
			cluster.CreateWithV1Alpha4Config(configuration(options, c.dir, RootHasAllRights())),
			cluster.CreateWithNodeImage(options.Image),
			cluster.CreateWithKubeconfigPath(c.Kubeconfig),
			cluster.CreateWithRetain(true), // until logs have been read
		)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return errors.Join(ctx.Err(), err)
		case <-tick.C:
			_ = c.provider.Delete(c.Name, c.Kubeconfig)
		}
	}
}

// deleteFailed collects the logs of a cluster that did not become ready, and deletes it.
func (c *Cluster) deleteFailed() error {
	logs := filepath.Join(c.dir, "logs")
	var failures []error
	if nodes, err := c.provider.ListNodes(c.Name); err == nil && len(nodes) > 0 {
		failures = append(failures, fmt.Errorf("logs of the nodes are in %s", logs), c.CollectLogs(logs))
	}
	return errors.Join(append(failures, c.Delete())...)
}

// CollectLogs writes logs of the nodes and of all pods to files in a folder, which it creates.
func (c *Cluster) CollectLogs(dir string) error {
	if err := c.provider.CollectLogs(c.Name, dir); err != nil {
		return fmt.Errorf("collecting the logs of cluster %s: %w", c.Name, err)
	}
	return nil
}

// Delete deletes the cluster with all its content. Its files stay.
func (c *Cluster) Delete() error {
	defer c.unlock()
	if err := c.provider.Delete(c.Name, c.Kubeconfig); err != nil {
		return fmt.Errorf("deleting cluster %s: %w", c.Name, err)
	}
	return nil
}

func lock(name string) (func(), error) {
	dir, err := repo.Path(".cache", "kind")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the folder of locks: %w", err)
	}
	return repo.Lock(filepath.Join(dir, name+".lock"))
}
