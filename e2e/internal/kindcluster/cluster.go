// Package kindcluster runs a cluster by kind (sigs.k8s.io/kind, as a library) in containers of this machine's Docker: made
// from a given node image, reached by an own kubeconfig, with an audit log that the host can read. It must not know what
// runs in the cluster, nor where the node image comes from.
//
// It wants a Docker daemon on this machine: folders of the host are mounted into nodes, and pods reach processes of the
// host by the bridge of Docker's network.
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
	"sigs.k8s.io/kind/pkg/cluster"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// readyTimeout is how long a cluster may take to become ready once its API server answers. A machine that compiles something
// else at the same time takes its time.
const readyTimeout = 4 * time.Minute

// Options describe a cluster.
type Options struct {
	// Name is that of the cluster, and how its containers' names begin: at most 50 lower-case letters, digits and dashes. A
	// cluster of that name that another process has left behind is deleted first.
	Name string
	// Image is a node image in kind's form that Docker has or can pull.
	Image string
	// Dir is an existing folder for what the cluster writes: kubeconfig, audit log, and logs of the nodes when it does not
	// come up. The caller removes it after Delete.
	Dir string
	// Nodes is the number of nodes, 1 when it is 0. The first is the control plane's; pods run there only if it is the only one.
	Nodes int
	// Progress gets a line for each thing done. Nil is nowhere.
	Progress io.Writer
}

// Cluster is a running cluster.
type Cluster struct {
	// Name is that of Options.
	Name string
	// Kubeconfig is the path of an administrator's kubeconfig, Config what is in it, without client-side rate limits.
	Kubeconfig string
	Config     *rest.Config

	dir      string
	log      *logger
	provider *cluster.Provider
	unlock   func()
}

// Start creates a cluster and waits until all its nodes and all that kind installs are ready. When that fails, or ctx ends
// before, nothing of the cluster is left but logs in the folder that the error names. Two processes of one checkout that
// want a cluster of the same name wait for each other.
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
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := waitUntilReady(ctx, c.Config); err != nil {
		return err
	}
	c.log.done("Waiting until all is ready")
	return nil
}

// create lets kind work. It takes no context: when ours ends, the nodes are taken from it, whereupon it fails.
func (c *Cluster) create(ctx context.Context, options Options) error {
	done := make(chan error, 1)
	go func() {
		done <- c.provider.Create(c.Name,
			cluster.CreateWithV1Alpha4Config(configuration(max(options.Nodes, 1), c.dir, RootHasAllRights())),
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

// deleteFailed keeps the logs of a cluster that did not come up, and deletes it.
func (c *Cluster) deleteFailed() error {
	logs := filepath.Join(c.dir, "logs")
	var failures []error
	if nodes, err := c.provider.ListNodes(c.Name); err == nil && len(nodes) > 0 {
		failures = append(failures, fmt.Errorf("logs of the nodes are in %s", logs), c.CollectLogs(logs))
	}
	return errors.Join(append(failures, c.Delete())...)
}

// CollectLogs writes logs of the nodes and of all pods to files in a folder, which is made.
func (c *Cluster) CollectLogs(dir string) error {
	if err := c.provider.CollectLogs(c.Name, dir); err != nil {
		return fmt.Errorf("collecting the logs of cluster %s: %w", c.Name, err)
	}
	return nil
}

// Delete deletes the cluster with everything in it. What it wrote to its folder stays.
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
