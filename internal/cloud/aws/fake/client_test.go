package fake_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/sigv4"
)

// judgement is the source of a behaviour for which we have found no statement or response of AWS.
const judgement = "our judgement"

// reference is the source of a behaviour that AWS' API reference of EC2 states at the action.
func reference(action string) string {
	return "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_" + action + ".html"
}

// behaviour is what the fake does, and from where it is known that AWS does so.
type behaviour struct {
	source  string
	options []fake.Option
	check   func(t *testing.T, a *account)
}

// testBehaviours checks each behaviour on a new cloud.
func testBehaviours(t *testing.T, behaviours map[string]behaviour) {
	t.Helper()
	for sentence, b := range behaviours {
		t.Run(sentence, func(t *testing.T) {
			require.NotEmpty(t, b.source, "each behaviour has a source")
			b.check(t, newAccount(t, b.options...))
		})
	}
}

var loadModels = sync.OnceValues(model.Load)

// account is a client of a started cloud.
type account struct {
	*fake.Cloud

	t      *testing.T
	key    sigv4.Credentials
	region string
	now    func() time.Time
}

func newAccount(t *testing.T, options ...fake.Option) *account {
	t.Helper()
	models, err := loadModels()
	require.NoError(t, err)
	cloud, err := fake.New(slices.Concat([]fake.Option{fake.WithModels(models)}, options)...)
	require.NoError(t, err)
	require.NoError(t, cloud.Start("127.0.0.1:0"))
	t.Cleanup(func() { assert.NoError(t, cloud.Close()) })
	return &account{Cloud: cloud, t: t, key: fake.DefaultKey(), region: fake.DefaultRegion, now: time.Now}
}

// response is a response: an XML element, or an error of the service.
type response struct {
	status        int
	root          node
	code, message string
}

type node struct {
	XMLName  xml.Name
	Text     string `xml:",chardata"`
	Children []node `xml:",any"`
}

// find returns the elements at a path such as "vpcSet/item/vpcId".
func (n node) find(path string) []node {
	name, rest, deeper := strings.Cut(path, "/")
	var out []node
	for _, child := range n.Children {
		switch {
		case child.XMLName.Local != name:
		case deeper:
			out = append(out, child.find(rest)...)
		default:
			out = append(out, child)
		}
	}
	return out
}

// texts returns the texts at a path.
func (r response) texts(path string) []string {
	out := []string{}
	for _, n := range r.root.find(path) {
		out = append(out, n.Text)
	}
	return out
}

// text returns the text of the first element at a path, or an empty string.
func (r response) text(path string) string {
	if all := r.texts(path); len(all) > 0 {
		return all[0]
	}
	return ""
}

type target struct{ signingName, version string }

func targets() map[string]target {
	return map[string]target{
		"ec2": {"ec2", "2016-11-15"}, "iam": {"iam", "2010-05-08"}, "sts": {"sts", "2011-06-15"},
		"elb": {"elasticloadbalancing", "2012-06-01"}, "elbv2": {"elasticloadbalancing", "2015-12-01"},
	}
}

// send sends a signed request. Parameters are names and values in turn. Actions of other services than EC2 are named "iam:GetRole".
func (a *account) send(action string, parameters ...string) (response, error) {
	service, name, other := strings.Cut(action, ":")
	if !other {
		service, name = "ec2", action
	}
	to := targets()[service]
	form := url.Values{"Action": {name}, "Version": {to.version}}
	for i := 0; i < len(parameters); i += 2 {
		form.Set(parameters[i], parameters[i+1])
	}
	body := form.Encode()
	r, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.URL()+"/", strings.NewReader(body))
	require.NoError(a.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	region := a.region
	if service == "iam" {
		region = "us-east-1"
	}
	if a.key.KeyID != "" {
		a.key.Sign(r, []byte(body), to.signingName, region, a.now())
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(answer.Body)
	require.NoError(a.t, err)
	out := response{status: answer.StatusCode}
	require.NoError(a.t, xml.Unmarshal(content, &out.root), string(content))
	if out.status != http.StatusOK {
		out.code, out.message = out.text("Errors/Error/Code"), out.text("Errors/Error/Message")
		if out.code == "" {
			out.code, out.message = out.text("Error/Code"), out.text("Error/Message")
		}
	}
	return out, nil
}

// do makes a call that must succeed.
func (a *account) do(action string, parameters ...string) response {
	a.t.Helper()
	out, err := a.send(action, parameters...)
	require.NoError(a.t, err)
	require.Equal(a.t, http.StatusOK, out.status, "%s %v: %s: %s", action, parameters, out.code, out.message)
	return out
}

// fails makes a call that must fail with the code, and returns the message.
func (a *account) fails(code, action string, parameters ...string) string {
	a.t.Helper()
	out, err := a.send(action, parameters...)
	require.NoError(a.t, err)
	require.Equal(a.t, code, out.code, "%s %v: %s", action, parameters, out.message)
	require.GreaterOrEqual(a.t, out.status, 400)
	return out.message
}

func (a *account) vpc() string {
	a.t.Helper()
	return a.do("CreateVpc", "CidrBlock", "10.250.0.0/16").text("vpc/vpcId")
}

func (a *account) subnet(vpcID, cidr string) string {
	a.t.Helper()
	return a.do("CreateSubnet", "VpcId", vpcID, "CidrBlock", cidr).text("subnet/subnetId")
}

func (a *account) gateway(vpcID string) string {
	a.t.Helper()
	id := a.do("CreateInternetGateway").text("internetGateway/internetGatewayId")
	a.do("AttachInternetGateway", "InternetGatewayId", id, "VpcId", vpcID)
	return id
}

func (a *account) address() string {
	a.t.Helper()
	return a.do("AllocateAddress", "Domain", "vpc").text("allocationId")
}

func (a *account) group(vpcID, name string) string {
	a.t.Helper()
	return a.do("CreateSecurityGroup", "VpcId", vpcID, "GroupName", name, "GroupDescription", "for tests").text("groupId")
}

func (a *account) routeTable(vpcID string) string {
	a.t.Helper()
	return a.do("CreateRouteTable", "VpcId", vpcID).text("routeTable/routeTableId")
}

// natGateway creates a NAT gateway in a new VPC with all that it needs.
func (a *account) natGateway() (vpcID, subnetID, gatewayID, natID, allocationID string) {
	a.t.Helper()
	vpcID = a.vpc()
	subnetID, gatewayID, allocationID = a.subnet(vpcID, "10.250.1.0/24"), a.gateway(vpcID), a.address()
	natID = a.do("CreateNatGateway", "SubnetId", subnetID, "AllocationId", allocationID).text("natGateway/natGatewayId")
	return vpcID, subnetID, gatewayID, natID, allocationID
}

// filter returns the parameters of a filter.
func filter(number int, name string, values ...string) []string {
	out := []string{fmt.Sprintf("Filter.%d.Name", number), name}
	for i, value := range values {
		out = append(out, fmt.Sprintf("Filter.%d.Value.%d", number, i+1), value)
	}
	return out
}

// tags returns the parameters of tags in a creating call.
func tags(kind string, keysAndValues ...string) []string {
	out := []string{"TagSpecification.1.ResourceType", kind}
	for i := 0; i < len(keysAndValues); i += 2 {
		prefix := fmt.Sprintf("TagSpecification.1.Tag.%d.", i/2+1)
		out = append(out, prefix+"Key", keysAndValues[i], prefix+"Value", keysAndValues[i+1])
	}
	return out
}

func with(parameters []string, more ...string) []string { return slices.Concat(parameters, more) }
