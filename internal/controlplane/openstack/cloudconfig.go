package openstack

import (
	"fmt"
	"strconv"
	"strings"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/gcfg"
)

// Names of the configs, which are upstream's, and of the files in them.
const (
	ccmConfigName    = "cloud-provider-config"
	cinderConfigName = "cloud-provider-disk-config-csi"
	cloudConfigFile  = "cloudprovider.conf"
	keystoneCAFile   = "keystone-ca.crt"
	// cloudConfigFolder is where components mount the files of a config.
	cloudConfigFolder = "/etc/kubernetes/cloudprovider"
)

// ccmConfig is the configuration of the cloud-controller-manager.
func (in *inputs) ccmConfig() (controlplane.Config, error) {
	file := &gcfg.File{}
	in.writeGlobal(file)
	in.writeMetadata(file)
	if err := in.writeLoadBalancers(file); err != nil {
		return controlplane.Config{}, err
	}
	in.writeNetworking(file)
	if in.routesPods {
		file.Section("Route")
		file.Set("router-id", in.infrastructure.Networks.Router.ID)
	}
	return in.configOf(ccmConfigName, file)
}

// cinderConfig is the configuration of the controller of the Cinder driver.
func (in *inputs) cinderConfig() (controlplane.Config, error) {
	file := &gcfg.File{}
	in.writeGlobal(file)
	in.writeMetadata(file)
	in.writeBlockStorage(file)
	return in.configOf(cinderConfigName, file)
}

// cinderNodeFiles are the configuration of the Cinder driver on nodes, which never logs in: it contains no credentials. Settings of volumes are the same as
// the controller's: the controller uses ignore-volume-az, nodes the others.
func (in *inputs) cinderNodeFiles() (map[string][]byte, error) {
	file := &gcfg.File{}
	in.writeBlockStorage(file)
	data, err := file.Bytes()
	if err != nil {
		return nil, fmt.Errorf("writing the configuration of the Cinder driver on nodes: %w", err)
	}
	return map[string][]byte{cloudConfigFile: data}, nil
}

// configOf returns a config with the login and the CA bundle.
func (in *inputs) configOf(name string, file *gcfg.File) (controlplane.Config, error) {
	data, err := file.Bytes()
	if err != nil {
		return controlplane.Config{}, fmt.Errorf("writing %s: %w", name, err)
	}
	config := controlplane.Config{Name: name, Files: map[string][]byte{cloudConfigFile: data}}
	if bundle := in.credentials.CACert; bundle != "" {
		config.Files[keystoneCAFile] = []byte(bundle)
	}
	return config, nil
}

func (in *inputs) writeGlobal(file *gcfg.File) {
	file.Section("Global")
	for _, fact := range loginFacts(in.credentials, in.region) {
		file.SetFrom(fact.where(), fact.inFile, fact.value)
	}
	if in.credentials.CACert != "" {
		file.Set("ca-file", cloudConfigFolder+"/"+keystoneCAFile)
	}
}

// writeMetadata writes the timeout of requests to OpenStack, which is in this section.
func (in *inputs) writeMetadata(file *gcfg.File) {
	if timeout := in.profile.RequestTimeout; timeout != nil && timeout.Duration > 0 {
		file.Section("Metadata")
		file.Set("request-timeout", timeout.Duration.String())
	}
}

func (in *inputs) writeBlockStorage(file *gcfg.File) {
	file.Section("BlockStorage")
	file.Set("rescan-on-resize", boolText(in.profile.RescanBlockStorageOnResize))
	file.Set("ignore-volume-az", boolText(in.profile.IgnoreVolumeAZ))
	file.Set("node-volume-attach-limit", numberText(in.profile.NodeVolumeAttachLimit))
}

// writeNetworking writes which addresses of a server are a node's. The shoot's own network is always one of the internal ones: once a network is named,
// addresses in others do not count.
func (in *inputs) writeNetworking(file *gcfg.File) {
	addresses := in.config.NodeAddresses
	if addresses == nil {
		addresses = &openstackv1alpha1.NodeAddresses{}
	}
	file.Section("Networking")
	file.Set("internal-network-name", in.infrastructure.Networks.Name)
	for _, name := range addresses.InternalNetworkNames {
		if name != in.infrastructure.Networks.Name {
			file.Set("internal-network-name", name)
		}
	}
	for _, name := range addresses.PublicNetworkNames {
		file.Set("public-network-name", name)
	}
	file.Set("address-sort-order", strings.Join(addresses.SortOrder, ","))
	file.Set("ipv6-support-disabled", boolText(addresses.IPv6Disabled))
}

// nodeSubnet returns the ID of the IPv4 subnet of the nodes.
func (in *inputs) nodeSubnet() (string, error) {
	for _, subnet := range in.infrastructure.Networks.Subnets {
		if subnet.Purpose == openstackv1alpha1.PurposeNodes && subnet.ID != "" {
			return subnet.ID, nil
		}
	}
	return "", fmt.Errorf("%w: %s names no subnet of purpose %q", controlplane.ErrInfrastructureIncomplete, statusPath(), openstackv1alpha1.PurposeNodes)
}

// boolText formats a boolean; nil is empty.
func boolText(on *bool) string {
	if on == nil {
		return ""
	}
	return strconv.FormatBool(*on)
}

// numberText formats a number; nil is empty.
func numberText(number *int32) string {
	if number == nil {
		return ""
	}
	return strconv.Itoa(int(*number))
}
