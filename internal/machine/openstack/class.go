package openstack

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/auth"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// userDataKey is the key of user data in a Secret, set by MCM.
const userDataKey = "userData"

// maxUserDataLength is Nova's maximum length of user data in base64 (its schema of servers, maxLength of user_data).
const maxUserDataLength = 65535

// class is the content of a MachineClass and its Secret.
type class struct {
	v1alpha1.MachineProviderConfigSpec
	credentials auth.Credentials
	userData    []byte
	// cluster and role are the keys of the two tags that mark machines as the shoot's.
	cluster, role string
}

// readClass reads what is needed to find machines; validate checks what is needed to create them.
func readClass(object *machinev1alpha1.MachineClass, secret *corev1.Secret) (*class, error) {
	if object == nil || secret == nil {
		return nil, machineprocess.Failuref(codes.InvalidArgument, "the machine class or its secret is missing")
	}
	if object.Provider != v1alpha1.Provider {
		return nil, machineprocess.Failuref(codes.InvalidArgument, "machine class %q: provider is %q, but this driver serves %q",
			object.Name, object.Provider, v1alpha1.Provider)
	}
	config, err := v1alpha1.DecodeMachineProviderConfig(&object.ProviderSpec)
	if err != nil {
		return nil, machineprocess.Failuref(codes.InvalidArgument, "machine class %q: providerSpec cannot be read: %w", object.Name, err)
	}
	c := &class{MachineProviderConfigSpec: config.Spec, userData: secret.Data[userDataKey]}
	for _, key := range slices.Sorted(maps.Keys(c.Tags)) {
		switch {
		case strings.HasPrefix(key, v1alpha1.TagClusterPrefix):
			c.cluster = key
		case strings.HasPrefix(key, v1alpha1.TagRolePrefix):
			c.role = key
		}
	}
	if c.technicalID() == "" || c.role == "" {
		return nil, machineprocess.Failuref(codes.InvalidArgument, "machine class %q: providerSpec.spec.tags needs a key that begins with %q and one that begins with %q",
			object.Name, v1alpha1.TagClusterPrefix, v1alpha1.TagRolePrefix)
	}
	if c.credentials, err = auth.ParseCredentials(secret.Data); err == nil {
		err = c.credentials.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("machine class %q: %w", object.Name, err)
	}
	return c, nil
}

// technicalID is the shoot's name in the cloud.
func (c *class) technicalID() string { return strings.TrimPrefix(c.cluster, v1alpha1.TagClusterPrefix) }

// validate returns errors that prevent the creation of machines.
func (c *class) validate() error {
	config := v1alpha1.MachineProviderConfig{Spec: c.MachineProviderConfigSpec}
	if err := config.Validate(field.NewPath("providerSpec")).ToAggregate(); err != nil {
		return machineprocess.Failuref(codes.InvalidArgument, "the machine class cannot be used: %w", err)
	}
	if len(c.userData) == 0 {
		return machineprocess.Failuref(codes.InvalidArgument, "the secret of the machine class lacks %q", userDataKey)
	}
	// Nova's error message repeats the request, including secrets.
	if length := base64.StdEncoding.EncodedLen(len(c.userData)); length > maxUserDataLength {
		return machineprocess.Failuref(codes.InvalidArgument, "%q in the secret of the machine class has %d bytes in base64, but Nova takes no more than %d",
			userDataKey, length, maxUserDataLength)
	}
	return nil
}

// owns reports whether a server is a machine of the shoot, by the tags from its creation.
func (c *class) owns(server cloudopenstack.Server) bool {
	_, cluster := server.Metadata[c.cluster]
	_, role := server.Metadata[c.role]
	return cluster && role
}

// portDescription is the description of the shoot's ports.
func (c *class) portDescription() string { return c.cluster }

// networks returns the networks of a machine in the order of its interfaces.
func (c *class) networks() []v1alpha1.Network {
	if c.NetworkID != "" {
		return []v1alpha1.Network{{ID: c.NetworkID, PodNetwork: true}}
	}
	return c.Networks
}

const providerIDPrefix = "openstack:///"

// providerID is the name of a server in Kubernetes, too.
func (c *class) providerID(serverID string) string {
	return providerIDPrefix + c.Region + "/" + serverID
}

// serverIDOf returns the server's ID in a provider ID, which may lack the region; empty if there is none.
func serverIDOf(providerID string) string {
	return providerID[strings.LastIndex(providerID, "/")+1:]
}
