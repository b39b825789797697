package kindcluster

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path"
	"strings"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
)

// network is the Docker network of kind's nodes.
const network = "kind"

// Gateway is the IPv4 address of the bridge of Docker's network: pods reach processes of this machine by it that listen on it, or on all
// addresses. Connections of the host to nodes come from it, too.
func (c *Cluster) Gateway(ctx context.Context) (string, error) {
	output, err := docker(ctx, "network", "inspect", "--format", "{{range .IPAM.Config}}{{.Gateway}} {{end}}", network)
	if err != nil {
		return "", fmt.Errorf("looking for the gateway of Docker's network %s: %w", network, err)
	}
	for field := range strings.FieldsSeq(output) {
		if address, err := netip.ParseAddr(field); err == nil && address.Is4() {
			return field, nil
		}
	}
	return "", fmt.Errorf("the Docker network %s has no IPv4 gateway: %q", network, output)
}

// NodeAddress is the IPv4 address of the control plane's node, for NodePorts.
func (c *Cluster) NodeAddress() (string, error) {
	nodes, err := c.provider.ListNodes(c.Name)
	if err != nil {
		return "", fmt.Errorf("listing nodes: %w", err)
	}
	node, err := nodeutils.BootstrapControlPlaneNode(nodes)
	if err != nil {
		return "", fmt.Errorf("looking for the control plane's node: %w", err)
	}
	address, _, err := node.IP()
	if err != nil {
		return "", fmt.Errorf("asking for the address of node %s: %w", node, err)
	}
	return address, nil
}

// Load loads images into all nodes. An archive is the output of `docker save`, or an OCI layout in a tar file; its names of images are those that
// pods use.
func (c *Cluster) Load(ctx context.Context, archives ...string) error {
	nodes, err := c.provider.ListInternalNodes(c.Name)
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	all, ctx := errgroup.WithContext(ctx)
	for _, node := range nodes {
		all.Go(func() error {
			for _, archive := range archives {
				if err := ctx.Err(); err != nil {
					return err
				}
				file, err := os.Open(archive)
				if err != nil {
					return fmt.Errorf("opening an archive of images: %w", err)
				}
				err = nodeutils.LoadImageArchive(node, file)
				_ = file.Close()
				if err != nil {
					return fmt.Errorf("loading images of %s into node %s: %w", archive, node, err)
				}
			}
			return nil
		})
	}
	return all.Wait()
}

// deployNetwork deploys a network of pods into a cluster that has none.
func (c *Cluster) deployNetwork(ctx context.Context, network Network) error {
	if err := c.Load(ctx, network.Images...); err != nil {
		return err
	}
	nodes, err := c.provider.ListNodes(c.Name)
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	node, err := nodeutils.BootstrapControlPlaneNode(nodes)
	if err != nil {
		return fmt.Errorf("looking for the control plane's node: %w", err)
	}
	var output strings.Builder
	kubectl := node.CommandContext(ctx, "kubectl", "create", "--kubeconfig=/etc/kubernetes/admin.conf", "--filename=-")
	if err := kubectl.SetStdin(strings.NewReader(network.Manifest)).SetStdout(&output).SetStderr(&output).Run(); err != nil {
		return fmt.Errorf("deploying the network of pods: %w: %s", err, output.String())
	}
	return nil
}

// Execute runs a program in each node, with a text as its input.
func (c *Cluster) Execute(ctx context.Context, input, program string, args ...string) error {
	nodes, err := c.provider.ListInternalNodes(c.Name)
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	for _, node := range nodes {
		var output strings.Builder
		if err := node.CommandContext(ctx, program, args...).SetStdin(strings.NewReader(input)).SetStdout(&output).SetStderr(&output).Run(); err != nil {
			return fmt.Errorf("running %s in node %s: %w: %s", program, node, err, output.String())
		}
	}
	return nil
}

// RestartNode ends all processes of a node, and starts it again, as after a loss of power. Its pods start anew.
func (c *Cluster) RestartNode(ctx context.Context, node string) error {
	_, err := docker(ctx, "restart", "--time=0", node)
	return err
}

// UseRegistry makes all nodes pull images without TLS from a registry at an address, host:port, e.g. of a process of this machine at the Gateway.
func (c *Cluster) UseRegistry(address string) error {
	nodes, err := c.provider.ListInternalNodes(c.Name)
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	hosts := fmt.Sprintf("server = \"http://%[1]s\"\n\n[host.\"http://%[1]s\"]\ncapabilities = [\"pull\", \"resolve\"]\n", address)
	for _, node := range nodes {
		if err := nodeutils.WriteFile(node, path.Join(hostsFolder, address, "hosts.toml"), hosts); err != nil {
			return fmt.Errorf("describing registry %s in node %s: %w", address, node, err)
		}
	}
	return nil
}

func docker(ctx context.Context, args ...string) (string, error) {
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
