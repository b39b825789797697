package aws

import (
	"testing"

	"github.com/stretchr/testify/assert"

	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
)

func TestNumberZones(t *testing.T) {
	for sentence, test := range map[string]struct {
		names    []string
		recorded map[string]string
		want     map[string]string
	}{
		"a new shoot is numbered in its order": {
			[]string{"c", "a", "b"}, nil, map[string]string{"c": "z0", "a": "z1", "b": "z2"},
		},
		"recorded numbers stay": {
			[]string{"a", "b"}, map[string]string{"b": "z0"}, map[string]string{"b": "z0", "a": "z1"},
		},
		"the number of a zone that was removed is not used again": {
			[]string{"a", "c"}, map[string]string{"a": "z0", "b": "z1"}, map[string]string{"a": "z0", "b": "z1", "c": "z2"},
		},
		"a duplicate has one number": {[]string{"a", "a"}, nil, map[string]string{"a": "z0"}},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, test.want, numberZones(test.names, test.recorded)) })
	}
}

func TestRuleChanges(t *testing.T) {
	rule := func(cidr string) cloudaws.Rule {
		return cloudaws.Rule{Protocol: "tcp", FromPort: 1, ToPort: 2, CIDR: cidr}
	}
	for sentence, test := range map[string]struct {
		wanted, observed, missing, superfluous []cloudaws.Rule
	}{
		"equal in another order":      {[]cloudaws.Rule{rule("a"), rule("b")}, []cloudaws.Rule{rule("b"), rule("a")}, nil, nil},
		"one is missing":              {[]cloudaws.Rule{rule("a"), rule("b")}, []cloudaws.Rule{rule("a")}, []cloudaws.Rule{rule("b")}, nil},
		"one is foreign":              {[]cloudaws.Rule{rule("a")}, []cloudaws.Rule{rule("a"), rule("x")}, nil, []cloudaws.Rule{rule("x")}},
		"a range is wanted twice":     {[]cloudaws.Rule{rule("a"), rule("a")}, nil, []cloudaws.Rule{rule("a")}, nil},
		"the direction distinguishes": {[]cloudaws.Rule{{CIDR: "a", Egress: true}}, []cloudaws.Rule{{CIDR: "a"}}, []cloudaws.Rule{{CIDR: "a", Egress: true}}, []cloudaws.Rule{{CIDR: "a"}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			missing, superfluous := ruleChanges(test.wanted, test.observed)
			assert.Equal(t, test.missing, missing)
			assert.Equal(t, test.superfluous, superfluous)
		})
	}
}

func TestSamePolicy(t *testing.T) {
	const policy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:DescribeInstances"],"Resource":["*"]}]}`
	for sentence, test := range map[string]struct {
		other string
		want  bool
	}{
		"the same":                         {policy, true},
		"other white space and key order":  {`{ "Statement": [{"Resource":["*"], "Action":["ec2:DescribeInstances"], "Effect":"Allow"}], "Version":"2012-10-17" }`, true},
		"another action":                   {`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:*"],"Resource":["*"]}]}`, false},
		"no policy":                        {"", false},
		"something that is no JSON at all": {"%7B", false},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, test.want, samePolicy(policy, test.other)) })
	}
}

func TestSamePolicy_Order(t *testing.T) {
	const allow, deny = `{"Effect":"Allow","Action":["a","b"],"Resource":["*"]}`, `{"Effect":"Deny","Action":["c"],"Resource":["*"]}`
	const reversed = `{"Effect":"Allow","Action":["b","a"],"Resource":["*"]}`
	document := func(statements string) string { return `{"Version":"2012-10-17","Statement":[` + statements + `]}` }
	assert.True(t, samePolicy(document(allow+","+deny), document(deny+","+reversed)))
	assert.False(t, samePolicy(document(allow+","+deny), document(allow)))
}

func TestPlan_TagChanges(t *testing.T) {
	p := &plan{technicalID: technicalID, ignored: func(key string) bool { return key == "cost-center" }}
	wanted := p.tags("name")
	for sentence, test := range map[string]struct {
		observed cloudaws.Tags
		set      cloudaws.Tags
		remove   []string
	}{
		"nothing differs":                           {p.tags("name"), cloudaws.Tags{}, nil},
		"the name was changed":                      {p.tags("other"), cloudaws.Tags{tagName: "name"}, nil},
		"an older value is replaced":                {cloudaws.Tags{tagName: "name", p.clusterTag(): "1"}, cloudaws.Tags{p.clusterTag(): "owned"}, nil},
		"a tag of others is removed":                {p.tags("name", cloudaws.Tags{"x": "1"}), cloudaws.Tags{}, []string{"x"}},
		"an ignored tag stays":                      {p.tags("name", cloudaws.Tags{"cost-center": "1"}), cloudaws.Tags{}, nil},
		"tags of AWS, Kubernetes and Gardener stay": {p.tags("name", cloudaws.Tags{"aws:x": "1", "kubernetes.io/y": "1", "gardener.cloud/z": "1"}), cloudaws.Tags{}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			set, remove := p.tagChanges(wanted, test.observed)
			assert.Equal(t, test.set, set)
			assert.Equal(t, test.remove, remove)
		})
	}
}
