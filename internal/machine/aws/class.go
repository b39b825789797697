package aws

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// maxUserDataLength is EC2's maximum length of user data, before it is encoded, see https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html.
const maxUserDataLength = 16 << 10

// class is the content of a MachineClass and its Secret.
type class struct {
	*v1alpha1.ProviderSpec
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
	spec, err := v1alpha1.DecodeProviderSpec(&object.ProviderSpec)
	if err != nil {
		return nil, machineprocess.Failuref(codes.InvalidArgument, "machine class %q: providerSpec cannot be read: %w", object.Name, err)
	}
	c := &class{ProviderSpec: spec, userData: secret.Data[v1alpha1.KeyUserData]}
	for _, key := range slices.Sorted(maps.Keys(c.Tags)) {
		switch {
		case strings.HasPrefix(key, v1alpha1.TagClusterPrefix):
			c.cluster = key
		case strings.HasPrefix(key, v1alpha1.TagRolePrefix):
			c.role = key
		}
	}
	if len(c.cluster) <= len(v1alpha1.TagClusterPrefix) || c.role == "" {
		return nil, machineprocess.Failuref(codes.InvalidArgument, "machine class %q: providerSpec.tags needs a key that begins with %q and one that begins with %q",
			object.Name, v1alpha1.TagClusterPrefix, v1alpha1.TagRolePrefix)
	}
	if c.credentials, err = credentialsOf(secret.Data); err != nil {
		return nil, fmt.Errorf("machine class %q: %w", object.Name, err)
	}
	return c, nil
}

// credentialsOf reads credentials in the forms of the existing machine driver: with the current or the older names of keys, and with the token of a workload
// identity as a value or in a file.
func credentialsOf(data map[string][]byte) (auth.Credentials, error) {
	data = maps.Clone(data)
	for key, former := range map[string]string{
		auth.KeyAccessKeyID: v1alpha1.KeyAccessKeyID, auth.KeySecretAccessKey: v1alpha1.KeySecretAccessKey,
	} {
		if len(data[key]) == 0 && len(data[former]) > 0 {
			data[key] = data[former]
		}
	}
	if path := strings.TrimSpace(string(data[v1alpha1.KeyWorkloadIdentityTokenFile])); path != "" && len(data[auth.KeyToken]) == 0 {
		token, err := os.ReadFile(path)
		if err != nil {
			return auth.Credentials{}, machineprocess.Failuref(codes.Unauthenticated, "reading the token of the workload identity: %w", err)
		}
		data[auth.KeyToken] = token
	}
	return auth.ParseCredentials(data)
}

// validate returns errors that prevent the creation of machines.
func (c *class) validate() error {
	if err := c.Validate(field.NewPath("providerSpec")).ToAggregate(); err != nil {
		return machineprocess.Failuref(codes.InvalidArgument, "the machine class cannot be used: %w", err)
	}
	if len(c.userData) == 0 {
		return machineprocess.Failuref(codes.InvalidArgument, "the secret of the machine class lacks %q", v1alpha1.KeyUserData)
	}
	if len(c.userData) > maxUserDataLength {
		return machineprocess.Failuref(codes.InvalidArgument, "%q in the secret of the machine class has %d bytes, but EC2 takes no more than %d",
			v1alpha1.KeyUserData, len(c.userData), maxUserDataLength)
	}
	return nil
}

// owns reports whether an instance is a machine of the shoot, by the tags from its creation.
func (c *class) owns(instance cloudaws.Instance) bool {
	_, cluster := instance.Tags[c.cluster]
	_, role := instance.Tags[c.role]
	return cluster && role
}

// interfaceAt returns the class' interface at a place in an instance.
func (c *class) interfaceAt(card, index int32) (v1alpha1.NetworkInterface, bool) {
	for i, one := range c.NetworkInterfaces {
		if deref(one.NetworkCardIndex) == card && deviceIndex(one, i) == index {
			return one, true
		}
	}
	return v1alpha1.NetworkInterface{}, false
}

// deviceIndex is that of the interface with this index in the list.
func deviceIndex(one v1alpha1.NetworkInterface, index int) int32 {
	if one.DeviceIndex != nil {
		return *one.DeviceIndex
	}
	return int32(index)
}

// deref returns the value, or the zero value for nil.
func deref[T any](value *T) T {
	var zero T
	if value == nil {
		return zero
	}
	return *value
}

const providerIDPrefix = "aws:///"

// providerID is the name of an instance in Kubernetes, too.
func (c *class) providerID(instanceID string) string {
	return providerIDPrefix + cmp.Or(c.Region, c.credentials.Region) + "/" + instanceID
}

// instanceIDOf returns the instance's ID in a provider ID; empty if there is none.
func instanceIDOf(providerID string) string {
	return providerID[strings.LastIndex(providerID, "/")+1:]
}
