// Command manifest prints the objects that the driver of gardenet deploys into a shoot, for a cluster whose nodes share one layer 2 network and that no Gardener
// manages, such as one of kind. So such a cluster runs what shoots run. It must not know what the cluster is for.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
	"github.com/trellis-garden/trellis/internal/network/gardenet"
)

func main() {
	image := flag.String("image", "", "image of the agent")
	pods := flag.String("pods", "", "range of all pods, or one of each address family, separated by a comma")
	flag.Parse()
	if err := write(os.Stdout, *image, *pods); err != nil {
		fmt.Fprintln(os.Stderr, "manifest:", err)
		os.Exit(1)
	}
}

func write(out io.Writer, image, pods string) error {
	if image == "" {
		return errors.New("-image: must be the name of an image")
	}
	shoot, err := shootOf(image, strings.Split(pods, ","))
	if err != nil {
		return err
	}
	driver := gardenet.New()
	if err := driver.Validate(shoot).ToAggregate(); err != nil {
		return fmt.Errorf("validating the network: %w", err)
	}
	rendering, err := driver.Render(shoot)
	if err != nil {
		return fmt.Errorf("rendering the network: %w", err)
	}
	for _, object := range rendering.Shoot {
		text, err := yaml.Marshal(object)
		if err != nil {
			return fmt.Errorf("encoding %s: %w", object.GetName(), err)
		}
		if _, err := fmt.Fprintf(out, "---\n%s", text); err != nil {
			return fmt.Errorf("writing %s: %w", object.GetName(), err)
		}
	}
	return nil
}

// shootOf describes the cluster as a shoot: its nodes make the routes to each other's pods, and no cloud knows it.
func shootOf(image string, ranges []string) (*network.Shoot, error) {
	config := v1alpha1.NewNetworkConfig()
	config.Overlay = &v1alpha1.Overlay{Enabled: new(false), CreatePodRoutes: new(true)}
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration: %w", err)
	}
	var families []extensionsv1alpha1.IPFamily
	for _, text := range ranges {
		parsed, err := netip.ParsePrefix(text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("-pods: %w", err)
		case parsed.Addr().Is4():
			families = append(families, extensionsv1alpha1.IPFamilyIPv4)
		default:
			families = append(families, extensionsv1alpha1.IPFamilyIPv6)
		}
	}
	return &network.Shoot{
		Network: &extensionsv1alpha1.Network{Spec: extensionsv1alpha1.NetworkSpec{
			DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: gardenet.Type, ProviderConfig: &runtime.RawExtension{Raw: raw}},
			PodCIDR:     ranges[0], IPFamilies: families,
		}},
		Families:  families,
		PodRanges: ranges,
		KubeProxy: network.KubeProxy{Enabled: true},
		Image:     func(string) (string, error) { return image, nil },
	}, nil
}
