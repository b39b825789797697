package openstack

import (
	"bytes"
	"testing"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
)

func TestClass_Validate(t *testing.T) {
	s := startCloud(t)
	type spec = v1alpha1.MachineProviderConfigSpec
	for sentence, test := range map[string]struct {
		edit     func(*spec)
		order    func(*testMachine)
		wantText string
	}{
		"another provider":         {order: func(o *testMachine) { o.class.Provider = "AWS" }, wantText: `serves "OpenStack"`},
		"no secret":                {order: func(o *testMachine) { o.secret = nil }, wantText: "secret is missing"},
		"nothing that can be read": {order: func(o *testMachine) { o.class.ProviderSpec.Raw = []byte("{") }, wantText: "providerSpec"},
		"another kind":             {order: func(o *testMachine) { o.class.ProviderSpec.Raw = []byte(`{"apiVersion":"v1","kind":"Pod"}`) }, wantText: "providerSpec"},
		"no user data":             {order: func(o *testMachine) { delete(o.secret.Data, "userData") }, wantText: "userData"},
		"more user data than Nova takes": {
			order: func(o *testMachine) { o.secret.Data["userData"] = bytes.Repeat([]byte("secret"), 10_000) }, wantText: "80000 bytes in base64",
		},
		"no password":                 {order: func(o *testMachine) { delete(o.secret.Data, "password") }, wantText: "password"},
		"no Keystone":                 {order: func(o *testMachine) { delete(o.secret.Data, "authURL") }, wantText: "authURL"},
		"no tag of the cluster":       {edit: func(s *spec) { delete(s.Tags, clusterTag) }, wantText: "kubernetes.io-cluster-"},
		"no tag of the role":          {edit: func(s *spec) { delete(s.Tags, roleTag) }, wantText: "kubernetes.io-role-"},
		"a tag of no cluster":         {edit: func(s *spec) { s.Tags = map[string]string{v1alpha1.TagClusterPrefix: "1", roleTag: "1"} }, wantText: "tags"},
		"no region":                   {edit: func(s *spec) { s.Region = "" }, wantText: "region"},
		"no zone":                     {edit: func(s *spec) { s.AvailabilityZone = "" }, wantText: "availabilityZone"},
		"no flavor":                   {edit: func(s *spec) { s.FlavorName = "" }, wantText: "flavorName"},
		"no image":                    {edit: func(s *spec) { s.ImageName = "" }, wantText: "imageID"},
		"no network":                  {edit: func(s *spec) { s.NetworkID = "" }, wantText: "networkID"},
		"one network and several":     {edit: func(s *spec) { s.Networks = []v1alpha1.Network{{ID: "x"}} }, wantText: "networks"},
		"a network of no name":        {edit: func(s *spec) { s.NetworkID, s.Networks = "", []v1alpha1.Network{{}} }, wantText: "networks(0)"},
		"no ranges of pods":           {edit: func(s *spec) { s.PodNetworkCIDRs = nil }, wantText: "podNetworkCIDRs"},
		"less than no disk":           {edit: func(s *spec) { s.RootDiskSize = -1 }, wantText: "rootDiskSize"},
		"a data volume without space": {edit: func(s *spec) { s.DataVolumes = []v1alpha1.DataVolume{{Name: "a"}} }, wantText: "dataVolumes(0).size"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if test.edit == nil {
				test.edit = func(*spec) {}
			}
			o := s.newMachine(machineName, test.edit)
			if test.order != nil {
				test.order(o)
			}
			err := o.create(t.Context(), s.process())
			require.Equal(t, codes.InvalidArgument, code(err))
			require.ErrorContains(t, err, test.wantText)
			require.NotContains(t, err.Error(), "secret\"")
		})
	}
	require.Empty(t, s.cloud.State("garden").Servers)
}

func TestDeleteMachine_InvalidClass(t *testing.T) {
	s := startCloud(t)
	p, o := s.process(), s.newMachine(machineName)
	require.NoError(t, o.create(t.Context(), p))
	stale := s.newMachine(machineName, func(spec *v1alpha1.MachineProviderConfigSpec) { spec.FlavorName, spec.KeyName = "", "" })
	stale.machine = o.machine
	require.NoError(t, stale.delete(t.Context(), p))
	require.Empty(t, s.cloud.State("garden").Ports)
}

func TestProviderID(t *testing.T) {
	c := &class{MachineProviderConfigSpec: v1alpha1.MachineProviderConfigSpec{Region: "eu-1"}}
	require.Equal(t, "openstack:///eu-1/abc", c.providerID("abc"))
	for id, want := range map[string]string{"openstack:///eu-1/abc": "abc", "openstack:///abc": "abc", "": ""} {
		require.Equal(t, want, serverIDOf(id))
	}
}
