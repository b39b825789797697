package aws

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/gcfg"
)

const (
	// cloudConfigName is upstream's name for the configuration of the cloud-controller-manager.
	cloudConfigName   = "cloud-provider-config"
	cloudConfigFile   = "cloudprovider.conf"
	cloudConfigFolder = "/etc/kubernetes/cloudprovider"
)

// cloudConfig is the configuration of the cloud-controller-manager. VPC, subnet and zone tell it that it does not run on a machine of the shoot.
func (in *inputs) cloudConfig() (controlplane.Config, error) {
	subnet := in.loadBalancerSubnet()
	file := &gcfg.File{}
	file.Section("Global")
	file.Set("VPC", in.infrastructure.VPC.ID)
	file.Set("SubnetID", subnet.ID)
	// The security group of the nodes lets load balancers in.
	file.Set("DisableSecurityGroupIngress", "true")
	file.Set("KubernetesClusterTag", in.technicalID)
	file.Set("KubernetesClusterID", in.technicalID)
	file.Set("Zone", subnet.Zone)
	for _, family := range in.nodeFamilies() {
		file.Set("NodeIPFamilies", family)
	}
	data, err := file.Bytes()
	if err != nil {
		return controlplane.Config{}, fmt.Errorf("writing %s: %w", cloudConfigName, err)
	}
	return controlplane.Config{Name: cloudConfigName, Files: map[string][]byte{cloudConfigFile: data}}, nil
}

// loadBalancerSubnet returns a subnet for load balancers or, without any, one for nodes: always the same one, whatever the order of the status.
func (in *inputs) loadBalancerSubnet() awsv1alpha1.Subnet {
	for _, purpose := range []awsv1alpha1.Purpose{awsv1alpha1.PurposePublic, awsv1alpha1.PurposeInternal, awsv1alpha1.PurposeNodes} {
		subnets := slices.DeleteFunc(slices.Clone(in.infrastructure.VPC.Subnets), func(subnet awsv1alpha1.Subnet) bool {
			return subnet.Purpose != purpose || subnet.ID == ""
		})
		if len(subnets) > 0 {
			return slices.MinFunc(subnets, func(a, b awsv1alpha1.Subnet) int { return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.ID, b.ID)) })
		}
	}
	return awsv1alpha1.Subnet{}
}

// hasLoadBalancerSubnets reports whether load balancers can be created at all.
func (in *inputs) hasLoadBalancerSubnets() bool {
	return slices.ContainsFunc(in.infrastructure.VPC.Subnets, func(subnet awsv1alpha1.Subnet) bool { return subnet.Purpose != awsv1alpha1.PurposeNodes })
}

// nodeFamilies are the IP families of nodes' addresses. IPv4 is the first, whatever the shoot's order: nodes of AWS are called by addresses of IPv4, and the
// cloud-controller-manager takes the first address for a node's own (cloud-provider-aws issue 638).
func (in *inputs) nodeFamilies() []string {
	var families []string
	for _, family := range []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6} {
		if in.hasFamily(family) {
			families = append(families, strings.ToLower(string(family)))
		}
	}
	return families
}
