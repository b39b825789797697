// Command manifest prints the objects that the driver of gardenet deploys into a shoot, for a cluster whose nodes share one layer 2 network and that no Gardener
// manages, such as one of kind. So such a cluster runs what shoots run. It must not know what the cluster is for.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
	"github.com/trellis-garden/trellis/internal/network/gardenet"
)

// options are the flags.
type options struct {
	image, pods                      string
	routerImage, services, apiServer string
}

func main() {
	var o options
	flag.StringVar(&o.image, "image", "", "image of the agent")
	flag.StringVar(&o.pods, "pods", "", "range of all pods, or one of each address family, separated by a comma")
	flag.StringVar(&o.routerImage, "router-image", "", "image of the service router, in a cluster without kube-proxy")
	flag.StringVar(&o.services, "services", "", "ranges of Services like those of pods, for the service router")
	flag.StringVar(&o.apiServer, "api-server", "", "host:port at which nodes reach the API server without Services, for a cluster without kube-proxy")
	flag.Parse()
	if err := write(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "manifest:", err)
		os.Exit(1)
	}
}

func write(out io.Writer, o options) error {
	if o.image == "" {
		return errors.New("-image: must be the name of an image")
	}
	shoot, err := o.shoot()
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

// shoot describes the cluster as a shoot: its nodes make the routes to each other's pods, and no cloud knows it.
func (o options) shoot() (*network.Shoot, error) {
	withoutKubeProxy := o.routerImage != ""
	config := v1alpha1.NewNetworkConfig()
	config.Overlay = &v1alpha1.Overlay{Enabled: new(false), CreatePodRoutes: new(true)}
	config.ServiceRouting = &v1alpha1.ServiceRouting{Enabled: &withoutKubeProxy}
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration: %w", err)
	}
	ranges := strings.Split(o.pods, ",")
	families, err := familiesOf(ranges)
	if err != nil {
		return nil, fmt.Errorf("-pods: %w", err)
	}
	images := map[string]string{"gardenet-agent": o.image, "gardenet-service-router": o.routerImage}
	shoot := &network.Shoot{
		Network: &extensionsv1alpha1.Network{Spec: extensionsv1alpha1.NetworkSpec{
			DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: gardenet.Type, ProviderConfig: &runtime.RawExtension{Raw: raw}},
			PodCIDR:     ranges[0], IPFamilies: families,
		}},
		Families:  families,
		PodRanges: ranges,
		KubeProxy: network.KubeProxy{Enabled: !withoutKubeProxy},
		Image:     func(name string) (string, error) { return images[name], nil },
	}
	if !withoutKubeProxy {
		return shoot, nil
	}
	shoot.ServiceRanges = strings.Split(o.services, ",")
	if _, err := familiesOf(shoot.ServiceRanges); err != nil {
		return nil, fmt.Errorf("-services: %w", err)
	}
	host, port, err := net.SplitHostPort(o.apiServer)
	if err != nil {
		return nil, fmt.Errorf("-api-server: %w", err)
	}
	shoot.APIServerHost = host
	if shoot.APIServerPort, err = strconv.Atoi(port); err != nil {
		return nil, fmt.Errorf("-api-server: %w", err)
	}
	return shoot, nil
}

// familiesOf returns the families of ranges in their order.
func familiesOf(ranges []string) ([]extensionsv1alpha1.IPFamily, error) {
	var families []extensionsv1alpha1.IPFamily
	for _, text := range ranges {
		parsed, err := netip.ParsePrefix(text)
		switch {
		case err != nil:
			return nil, err
		case parsed.Addr().Is4():
			families = append(families, extensionsv1alpha1.IPFamilyIPv4)
		default:
			families = append(families, extensionsv1alpha1.IPFamilyIPv6)
		}
	}
	return families, nil
}
