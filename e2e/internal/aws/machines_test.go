package aws

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsmachinev1alpha1 "github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

func TestAccount_OfferMachines(t *testing.T) {
	account := &Account{cloud: newCloud(t)}
	shoot := account.NewShoot("one")
	account.OfferMachines(shoot)
	profile, is := shoot.CloudProfileConfig.(*awsv1alpha1.CloudProfileConfig)
	require.True(t, is)
	for i, version := range shoot.MachineImages[0].Versions {
		found, err := profile.FindMachineImage(awsv1alpha1.ImageQuery{
			Name: MachineImage, Version: version.Version, Region: fake.DefaultRegion, Architecture: version.Architectures[0],
		})
		require.NoError(t, err)
		assert.Equal(t, profile.MachineImages[0].Versions[i].Regions[0].AMI, found.AMI)
	}
	assert.Equal(t, []string{"eu-west-1a", "eu-west-1b"}, NewPool("cpu", 3, 2).Zones)
	assert.Empty(t, account.cloud.Resources(), "images are not among the resources")
}

func TestAccount_Servers(t *testing.T) {
	c := newCloud(t)
	account := &Account{cloud: c}
	shoot := account.NewShoot("one")
	o := operator{t, c}
	o.create() // machines of another shoot
	servers := account.Servers(shoot)
	found, err := servers(t.Context())
	require.NoError(t, err)
	assert.Empty(t, found)

	others, err := c.Instances("one")
	require.NoError(t, err)
	id := others[0].ID
	o.do(fake.EC2, "CreateTags", "ResourceId.1", id, "Tag.1.Key", awsmachinev1alpha1.TagClusterPrefix+shoot.Namespace(), "Tag.1.Value", "1")
	found, err = servers(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, "aws:///eu-west-1a/"+id, found[0].ProviderID)
	assert.Equal(t, others[0].DNSName, found[0].Name)
	assert.True(t, found[0].Running)
	instances, err := c.Instances(shoot.Namespace())
	require.NoError(t, err)
	assert.Equal(t, []string{"m5.large", "linux"}, []string{instances[0].Type, instances[0].Image})

	o.do(fake.EC2, "TerminateInstances", "InstanceId.1", id)
	found, err = servers(t.Context())
	require.NoError(t, err)
	assert.Empty(t, found)
}
