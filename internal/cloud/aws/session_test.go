package aws_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// response is what a service answers.
type response struct {
	status int
	body   string
}

// service answers requests with prepared responses, the last one for ever, and records the requests.
type service struct {
	mutex     sync.Mutex
	responses []response
	requests  []url.Values
	signed    []string // the Authorization header of each request
}

func (s *service) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	form, _ := url.ParseQuery(string(body))
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.requests = append(s.requests, form)
	s.signed = append(s.signed, req.Header.Get("Authorization"))
	next := s.responses[0]
	if len(s.responses) > 1 {
		s.responses = s.responses[1:]
	}
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body)
}

func (s *service) actions() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var actions []string
	for _, request := range s.requests {
		actions = append(actions, request.Get("Action"))
	}
	return actions
}

const (
	keyID  = "AKIAIOSFODNN7EXAMPLE"
	secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
)

func accessKey() auth.Credentials {
	return auth.Credentials{AccessKeyID: keyID, SecretAccessKey: secret}
}

// newSession returns a session whose requests get the responses in order.
func newSession(t *testing.T, responses ...response) (*aws.Session, *service) {
	t.Helper()
	sessions, backend := newSessions(t, responses...)
	session, err := sessions.Get(t.Context(), accessKey(), "eu-west-1")
	require.NoError(t, err)
	return session, backend
}

func newSessions(t *testing.T, responses ...response) (*aws.Sessions, *service) {
	t.Helper()
	backend := &service{responses: responses}
	server := httptest.NewServer(backend)
	t.Cleanup(server.Close)
	return aws.NewSessions(aws.Options{
		Endpoint: server.URL, QPS: -1,
		Retry: transport.RetryPolicy{Attempts: 3, FirstPause: time.Millisecond, LongestPause: 5 * time.Millisecond},
	}), backend
}

func ec2Error(status int, code string) response {
	return response{status, `<Response><Errors><Error><Code>` + code + `</Code><Message>No.</Message></Error></Errors><RequestID>r-1</RequestID></Response>`}
}

func queryError(status int, code string) response {
	return response{status, `<ErrorResponse><Error><Type>Sender</Type><Code>` + code + `</Code><Message>No.</Message></Error><RequestId>r-1</RequestId></ErrorResponse>`}
}

func answer(action, content string) response {
	return response{http.StatusOK, fmt.Sprintf("<%sResponse><requestId>r-1</requestId>%s</%sResponse>", action, content, action)}
}

func TestSession_ErrorKinds(t *testing.T) {
	for code, want := range map[string]cloud.Kind{
		"AuthFailure":                     cloud.Unauthenticated,
		"InvalidClientTokenId":            cloud.Unauthenticated,
		"ExpiredToken":                    cloud.Unauthenticated,
		"UnauthorizedOperation":           cloud.Unauthorized,
		"OptInRequired":                   cloud.Unauthorized,
		"VpcLimitExceeded":                cloud.QuotaExceeded,
		"SomethingNewLimitExceeded":       cloud.QuotaExceeded,
		"RequestLimitExceeded":            cloud.RateLimited,
		"InsufficientAddressCapacity":     cloud.Depleted,
		"InsufficientInstanceCapacity":    cloud.Depleted,
		"Unsupported":                     cloud.Depleted,
		"VcpuLimitExceeded":               cloud.QuotaExceeded,
		"MaxSpotInstanceCountExceeded":    cloud.QuotaExceeded,
		"InvalidVpcID.NotFound":           cloud.NotFound,
		"NatGatewayNotFound":              cloud.NotFound,
		"NoSuchEntity":                    cloud.NotFound,
		"Gateway.NotAttached":             cloud.NotFound,
		"DependencyViolation":             cloud.InUse,
		"DeleteConflict":                  cloud.InUse,
		"InvalidSubnet.Conflict":          cloud.Conflict,
		"InvalidGroup.Duplicate":          cloud.Conflict,
		"RouteAlreadyExists":              cloud.Conflict,
		"IdempotentParameterMismatch":     cloud.Conflict,
		"InvalidParameterValue":           cloud.Configuration,
		"InvalidVpcRange":                 cloud.Configuration,
		"InvalidSubnet.Range":             cloud.Configuration,
		"MalformedPolicyDocument":         cloud.Configuration,
		"InternalError":                   cloud.Unavailable,
		"ACodeThatNobodyKnowsYet":         cloud.Unknown,
		"InvalidElasticIpID.SomethingNew": cloud.Unknown,
	} {
		t.Run(code, func(t *testing.T) {
			session, _ := newSession(t, ec2Error(http.StatusBadRequest, code))
			err := session.DeleteVPC(t.Context(), "vpc-1")
			assert.Equal(t, want, cloud.KindOf(err), "%v", err)
			assert.Equal(t, code, aws.CodeOf(err))
			assert.ErrorContains(t, err, "ec2 DeleteVpc answered "+code+": No. (request r-1)")
			assert.NotContains(t, err.Error(), secret)
		})
	}
}

func TestSession_Repetitions(t *testing.T) {
	create := func(ctx context.Context, s *aws.Session) error {
		_, err := s.CreateVPC(ctx, aws.VPCCreate{CIDR: "10.0.0.0/16"})
		return err
	}
	createWithToken := func(ctx context.Context, s *aws.Session) error {
		_, err := s.CreateRouteTable(ctx, "vpc-1", "token", nil)
		return err
	}
	read := func(ctx context.Context, s *aws.Session) error {
		_, err := s.ListVPCs(ctx, aws.Filter{})
		return err
	}
	for sentence, test := range map[string]struct {
		do       func(context.Context, *aws.Session) error
		response response
		want     int
	}{
		"a read is repeated when the service fails":                                   {read, response{http.StatusServiceUnavailable, ""}, 3},
		"a creation is not repeated then, as it may have happened":                    {create, response{http.StatusServiceUnavailable, ""}, 1},
		"a creation with a token is, as the token makes it the same":                  {createWithToken, response{http.StatusBadGateway, ""}, 3},
		"a creation that was throttled is, as it had no effect":                       {create, ec2Error(http.StatusServiceUnavailable, "RequestLimitExceeded"), 3},
		"what was throttled with the status of an invalid request is":                 {read, queryError(http.StatusBadRequest, "Throttling"), 3},
		"an invalid request is not":                                                   {read, ec2Error(http.StatusBadRequest, "InvalidParameterValue"), 1},
		"a resource that the session has not created does not appear by a repetition": {createWithToken, ec2Error(http.StatusBadRequest, "InvalidVpcID.NotFound"), 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			session, backend := newSession(t, test.response)
			require.Error(t, test.do(t.Context(), session))
			assert.Len(t, backend.actions(), test.want)
		})
	}
}

func TestSession_NewResourceIsNotVisibleYet(t *testing.T) {
	created := answer("CreateVpc", `<vpc><vpcId>vpc-1</vpcId><state>pending</state></vpc>`)
	unseen := ec2Error(http.StatusBadRequest, "InvalidVpcID.NotFound")
	session, backend := newSession(t, created, unseen, unseen, answer("CreateSubnet", `<subnet><subnetId>subnet-1</subnetId></subnet>`))
	vpc, err := session.CreateVPC(t.Context(), aws.VPCCreate{CIDR: "10.0.0.0/16"})
	require.NoError(t, err)
	subnet, err := session.CreateSubnet(t.Context(), aws.SubnetCreate{VPCID: vpc.ID, Zone: "eu-west-1a", CIDR: "10.0.0.0/24"})
	require.NoError(t, err)
	assert.Equal(t, "subnet-1", subnet.ID)
	assert.Equal(t, []string{"CreateVpc", "CreateSubnet", "CreateSubnet", "CreateSubnet"}, backend.actions())
}

func TestSession_NewResourceStaysInvisible(t *testing.T) {
	session, _ := newSession(t, answer("CreateVpc", `<vpc><vpcId>vpc-1</vpcId></vpc>`), ec2Error(http.StatusBadRequest, "InvalidVpcID.NotFound"))
	_, err := session.CreateVPC(t.Context(), aws.VPCCreate{CIDR: "10.0.0.0/16"})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err = session.EnableVPCAttribute(ctx, "vpc-1", aws.DNSHostnames)
	assert.Equal(t, cloud.Unavailable, cloud.KindOf(err), "nobody may conclude that it has to be created again")
	require.ErrorContains(t, err, "vpc-1 was created just now, and AWS does not see it yet")

	require.Error(t, session.DeleteVPC(t.Context(), "vpc-1"))
	assert.True(t, cloud.IsNotFound(session.EnableVPCAttribute(t.Context(), "vpc-1", aws.DNSHostnames)), "after its deletion it is missing rightly")
}

func TestSession_Pages(t *testing.T) {
	page := func(next, id string) response {
		return answer("DescribeSubnets", `<subnetSet><item><subnetId>`+id+`</subnetId></item></subnetSet>`+next)
	}
	session, backend := newSession(t, page("<nextToken>2</nextToken>", "subnet-1"), answer("DescribeSubnets", "<nextToken>3</nextToken>"), page("", "subnet-2"))
	found, err := session.ListSubnets(t.Context(), aws.Filter{VPCID: "vpc-1", TagKeys: []string{"k"}, Tags: aws.Tags{"b": "2", "a": "1"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"subnet-1", "subnet-2"}, []string{found[0].ID, found[1].ID}, "an empty page is not the last one")
	first := backend.requests[0]
	assert.Equal(t, []string{"vpc-id", "vpc-1", "tag:a", "1", "tag:b", "2", "tag-key", "k"}, []string{
		first.Get("Filter.1.Name"), first.Get("Filter.1.Value.1"), first.Get("Filter.2.Name"), first.Get("Filter.2.Value.1"),
		first.Get("Filter.3.Name"), first.Get("Filter.3.Value.1"), first.Get("Filter.4.Name"), first.Get("Filter.4.Value.1"),
	})

	endless, backend := newSession(t, answer("DescribeSubnets", "<nextToken>2</nextToken>"))
	_, err = endless.ListSubnets(t.Context(), aws.Filter{})
	require.ErrorContains(t, err, "the list leads back to a page that was read before")
	assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
	assert.Len(t, backend.actions(), 2)
}

func TestSessions_Role(t *testing.T) {
	role := auth.Credentials{RoleARN: "arn:aws:iam::123456789012:role/shoots", Token: "a.b.c"}
	issued := answer("AssumeRoleWithWebIdentity", `<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAIOSFODNN7EXAMPLE</AccessKeyId>
		<SecretAccessKey>`+secret+`</SecretAccessKey><SessionToken>session</SessionToken><Expiration>`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+
		`</Expiration></Credentials></AssumeRoleWithWebIdentityResult>`)
	sessions, backend := newSessions(t, issued, answer("DescribeVpcs", ""))
	for range 3 {
		session, err := sessions.Get(t.Context(), role, "eu-west-1")
		require.NoError(t, err)
		_, err = session.ListVPCs(t.Context(), aws.Filter{})
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"AssumeRoleWithWebIdentity", "DescribeVpcs", "DescribeVpcs", "DescribeVpcs"}, backend.actions(), "one login for all")
	assert.Equal(t, "a.b.c", backend.requests[0].Get("WebIdentityToken"))
	assert.Empty(t, backend.signed[0], "a login with a token is not signed")
	assert.Contains(t, backend.signed[1], "ASIAIOSFODNN7EXAMPLE")

	rejecting, backend := newSessions(t, queryError(http.StatusForbidden, "AccessDenied"))
	_, err := rejecting.Get(t.Context(), role, "eu-west-1")
	assert.Equal(t, cloud.Unauthorized, cloud.KindOf(err), "%v", err)
	_, err = rejecting.Get(t.Context(), role, "eu-west-1")
	require.Error(t, err)
	assert.Len(t, backend.actions(), 2, "a failed login is tried again by the next caller")
}

func TestSessions_Region(t *testing.T) {
	sessions, _ := newSessions(t, answer("DescribeVpcs", ""))
	_, err := sessions.Get(t.Context(), accessKey(), "")
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	require.ErrorContains(t, err, `set it in the shoot, or as "region"`)
	credentials := accessKey()
	credentials.Region = "eu-central-1"
	session, err := sessions.Get(t.Context(), credentials, "")
	require.NoError(t, err)
	assert.Equal(t, "eu-central-1", session.Region())
	other, err := sessions.Get(t.Context(), credentials, "eu-central-1")
	require.NoError(t, err)
	assert.Same(t, session, other)
}

func TestSession_Rules(t *testing.T) {
	session, backend := newSession(t, answer("AuthorizeSecurityGroupIngress", "<return>true</return>"), answer("AuthorizeSecurityGroupEgress", "<return>true</return>"))
	require.NoError(t, session.AddRules(t.Context(), "sg-1", []aws.Rule{
		{Protocol: "tcp", FromPort: 30000, ToPort: 32767, CIDR: "::/0"},
		{Protocol: aws.AllProtocols, GroupID: "sg-1"},
		{Protocol: "tcp", FromPort: 30000, ToPort: 32767, CIDR: "0.0.0.0/0"},
		{Protocol: aws.AllProtocols, Egress: true, CIDR: "0.0.0.0/0"},
	}))
	require.Equal(t, []string{"AuthorizeSecurityGroupIngress", "AuthorizeSecurityGroupEgress"}, backend.actions())
	ingress := backend.requests[0]
	var parameters []string
	for key := range ingress {
		if strings.HasPrefix(key, "IpPermissions") {
			parameters = append(parameters, key+"="+ingress.Get(key))
		}
	}
	assert.ElementsMatch(t, []string{
		"IpPermissions.1.IpProtocol=-1", "IpPermissions.1.Groups.1.GroupId=sg-1",
		"IpPermissions.2.IpProtocol=tcp", "IpPermissions.2.FromPort=30000", "IpPermissions.2.ToPort=32767",
		"IpPermissions.2.IpRanges.1.CidrIp=0.0.0.0/0", "IpPermissions.2.Ipv6Ranges.1.CidrIpv6=::/0",
	}, parameters)
}

func TestSession_MergedRules(t *testing.T) {
	session, _ := newSession(t, answer("DescribeSecurityGroups", `<securityGroupInfo><item><groupId>sg-1</groupId><ipPermissions>
		<item><ipProtocol>tcp</ipProtocol><fromPort>30000</fromPort><toPort>32767</toPort><ipRanges><item><cidrIp>0.0.0.0/0</cidrIp></item><item><cidrIp>10.0.0.0/8</cidrIp></item></ipRanges>
			<ipv6Ranges><item><cidrIpv6>::/0</cidrIpv6></item></ipv6Ranges></item>
		<item><ipProtocol>-1</ipProtocol><groups><item><groupId>sg-1</groupId></item></groups></item>
		</ipPermissions></item></securityGroupInfo>`))
	groups, err := session.ListSecurityGroups(t.Context(), aws.Filter{IDs: []string{"sg-1"}})
	require.NoError(t, err)
	nodePorts := func(cidr string) aws.Rule {
		return aws.Rule{Protocol: "tcp", FromPort: 30000, ToPort: 32767, CIDR: cidr}
	}
	assert.Equal(t, []aws.Rule{
		nodePorts("0.0.0.0/0"), nodePorts("10.0.0.0/8"), nodePorts("::/0"), {Protocol: aws.AllProtocols, GroupID: "sg-1"},
	}, groups[0].Rules)
}

func TestSession_PolicyDocuments(t *testing.T) {
	document := `{"Statement":[{"Effect":"Allow","Action":["ec2:DescribeInstances"],"Resource":["*"]}]}`
	session, _ := newSession(t, answer("GetRolePolicy", "<GetRolePolicyResult><PolicyDocument>"+url.QueryEscape(document)+"</PolicyDocument></GetRolePolicyResult>"))
	got, err := session.GetRolePolicy(t.Context(), "nodes", "nodes")
	require.NoError(t, err)
	assert.JSONEq(t, document, got)
}
