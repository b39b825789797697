package openstack_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func rules() []openstack.SecurityGroupRule {
	return []openstack.SecurityGroupRule{
		{SecurityGroupID: "g", Direction: "ingress", EtherType: "IPv4", RemoteGroupID: "g"},
		{SecurityGroupID: "g", Direction: "ingress", EtherType: "IPv4", Protocol: "tcp", PortMin: 30000, PortMax: 32767, RemoteIPPrefix: "0.0.0.0/0", Description: "node ports"},
	}
}

func TestSession_CreateSecurityGroupRules(t *testing.T) {
	stub := &stubCloud{serve: status(201, `{"security_group_rules": [{"id": "1"}, {"id": "2"}]}`)}
	session := stub.session(t, openstack.Options{})
	created, err := session.CreateSecurityGroupRules(t.Context(), rules())
	require.NoError(t, err)
	assert.Equal(t, []openstack.SecurityGroupRule{{ID: "1"}, {ID: "2"}}, created)
	assert.Equal(t, []string{"POST /network/v2.0/security-group-rules"}, stub.calls())
	assert.JSONEq(t, `{"security_group_rules": [
		{"security_group_id": "g", "direction": "ingress", "ethertype": "IPv4", "remote_group_id": "g"},
		{"security_group_id": "g", "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp", "port_range_min": 30000,
		 "port_range_max": 32767, "remote_ip_prefix": "0.0.0.0/0", "description": "node ports"}]}`, stub.lastBody())

	none, err := session.CreateSecurityGroupRules(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, none)
	assert.Len(t, stub.calls(), 1, "nothing to create costs nothing")
}

func TestSession_CreateSecurityGroupRules_Individually(t *testing.T) {
	ok := status(201, `{"security_group_rule": {"id": "new"}}`)
	exists := status(409, neutronFault("SecurityGroupRuleExists"))
	for name, tc := range map[string]struct {
		answers []http.HandlerFunc // to the bulk call and to each rule
		created int
		want    cloud.Kind
		fails   bool
	}{
		"it refuses bulk calls":         {answers: []http.HandlerFunc{status(400, neutronFault("HTTPBadRequest")), ok, ok}, created: 2},
		"it doesn't know bulk calls":    {answers: []http.HandlerFunc{status(501, `{}`), ok, ok}, created: 2},
		"one of them exists already":    {answers: []http.HandlerFunc{exists, exists, ok}, created: 1},
		"all of them exist already":     {answers: []http.HandlerFunc{exists, exists, exists}},
		"one of them is bad":            {answers: []http.HandlerFunc{status(400, neutronFault("InvalidInput")), ok, status(400, neutronFault("InvalidInput"))}, created: 1, fails: true},
		"the quota ends at one of them": {answers: []http.HandlerFunc{exists, ok, status(409, neutronFault("OverQuota"))}, created: 1, fails: true, want: cloud.QuotaExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{serve: inSequence(tc.answers...)}
			created, err := stub.session(t, openstack.Options{}).CreateSecurityGroupRules(t.Context(), rules())
			assert.Equal(t, tc.fails, err != nil, "%v", err)
			assert.Equal(t, tc.want, cloud.KindOf(err))
			assert.Len(t, created, tc.created)
			assert.Len(t, stub.calls(), 3)
		})
	}
}

func TestSession_CreateSecurityGroupRules_OtherFailure(t *testing.T) {
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   cloud.Kind
	}{
		"the quota is used up":    {status(409, neutronFault("OverQuota")), cloud.QuotaExceeded},
		"the group is gone":       {status(404, neutronFault("SecurityGroupNotFound")), cloud.NotFound},
		"the connection was lost": {drop, cloud.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			stub := &stubCloud{serve: tc.answer}
			_, err := stub.session(t, openstack.Options{}).CreateSecurityGroupRules(t.Context(), rules())
			assert.Equal(t, tc.want, cloud.KindOf(err))
			assert.Len(t, stub.calls(), 1)
		})
	}
}
