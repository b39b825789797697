package protocol

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestDecode_Refusals(t *testing.T) {
	services, err := model.Load()
	require.NoError(t, err)
	tests := map[string]struct {
		service, body string
		want          wire.Error
	}{
		"an unknown action of EC2": {"ec2", "Action=Fly", wire.Error{
			Status: 400, Type: "InvalidAction", Message: "The action Fly is not valid for this web service.",
		}},
		"an unknown action of IAM": {"iam", "Action=Fly", wire.Error{Status: 400, Type: "InvalidAction", Message: "Could not find operation Fly"}},
		"an unknown parameter of EC2": {"ec2", "Action=DescribeVpcs&VpcID.1=vpc-1", wire.Error{
			Status: 400, Type: "UnknownParameter", Message: "The parameter VpcID.1 is not recognized",
		}},
		"an unknown parameter in a structure": {"ec2", "Action=DescribeVpcs&Filter.1.Nam=x", wire.Error{
			Status: 400, Type: "UnknownParameter", Message: "The parameter Filter.1.Nam is not recognized",
		}},
		"a value with a parameter below it": {"ec2", "Action=DeleteVpc&VpcId.1=x", wire.Error{
			Status: 400, Type: "UnknownParameter", Message: "The parameter VpcId.1 is not recognized",
		}},
		"a list without numbers": {"ec2", "Action=DescribeVpcs&VpcId.x=y", wire.Error{
			Status: 400, Type: "UnknownParameter", Message: "The parameter VpcId.x is not recognized",
		}},
		"a list of IAM without member": {"iam", "Action=CreateRole&RoleName=r&AssumeRolePolicyDocument=d&Tags.1.Key=k", wire.Error{
			Status: 400, Type: "InvalidQueryParameter", Message: "The parameter Tags.1.Key is not recognized",
		}},
		"a missing parameter of EC2": {"ec2", "Action=DeleteVpc", wire.Error{
			Status: 400, Type: "MissingParameter", Message: "The request must contain the parameter VpcId",
		}},
		"a missing parameter of IAM": {"iam", "Action=GetRole", wire.Error{
			Status: 400, Type: "ValidationError", Message: "1 validation error detected: Value null at 'roleName' failed to satisfy constraint: Member must not be null",
		}},
		"a value that is not in the enumeration": {"ec2", "Action=CreateVpc&CidrBlock=10.0.0.0/16&InstanceTenancy=wrong", wire.Error{
			Status: 400, Type: "InvalidParameterValue",
			Message: "Value (wrong) for parameter InstanceTenancy is invalid. Valid values are: default, dedicated, host",
		}},
		"a text for a boolean": {"ec2", "Action=DeleteVpc&VpcId=vpc-1&DryRun=maybe", wire.Error{
			Status: 400, Type: "InvalidParameterValue", Message: "Invalid value 'maybe' for DryRun. It must be of type boolean",
		}},
		"a text for a list": {"ec2", "Action=DescribeVpcs&VpcId=vpc-1", wire.Error{
			Status: 400, Type: "InvalidParameterValue", Message: "Invalid value 'vpc-1' for VpcId. It must be of type list",
		}},
		"a number that is too large": {"ec2", "Action=DescribeVpcs&MaxResults=1001", wire.Error{
			Status: 400, Type: "InvalidParameterValue", Message: "Value ( 1001 ) for parameter MaxResults is invalid. Expecting at least 5 and at most 1000",
		}},
		"a text that is too long": {"iam", "Action=GetRole&RoleName=" + string(make([]byte, 65)), wire.Error{
			Status: 400, Type: "ValidationError",
		}},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			form, err := url.ParseQuery(test.body)
			require.NoError(t, err)
			_, _, failure := Decode(services[test.service], form)
			require.NotNil(t, failure)
			if test.want.Message == "" {
				failure.Message = ""
			}
			assert.Empty(t, cmp.Diff(test.want, *failure))
		})
	}
}

func TestDecodeREST_Refusals(t *testing.T) {
	services, err := model.Load()
	require.NoError(t, err)
	const systems, targets = "/2015-02-01/file-systems", "/2015-02-01/mount-targets"
	for sentence, test := range map[string]struct {
		method, path, body string
		want               wire.Error
	}{
		"an unknown path": {http.MethodGet, "/2015-02-01/clouds", "", wire.Error{
			Status: 404, Type: "UnknownOperationException", Message: "No operation has the request GET /2015-02-01/clouds",
		}},
		"an unknown method":          {http.MethodPut, systems, "", wire.Error{Status: 404, Type: "UnknownOperationException"}},
		"a path without its label":   {http.MethodDelete, systems + "/", "", wire.Error{Status: 404, Type: "UnknownOperationException"}},
		"an unknown query":           {http.MethodGet, systems + "?Id=1", "", badRequest("The parameter Id is not recognized")},
		"an unknown parameter":       {http.MethodPost, systems, `{"CreationToken": "t", "Size": 1}`, badRequest("The parameter Size is not recognized")},
		"an unknown one in a tag":    {http.MethodPost, systems, `{"CreationToken": "t", "Tags": [{"Key": "k", "Value": "v", "X": 1}]}`, badRequest("The parameter Tags.1.X is not recognized")},
		"a body where there is none": {http.MethodGet, systems, `{"Marker": "m"}`, badRequest("The parameter Marker is not recognized")},
		"no JSON":                    {http.MethodPost, systems, `{`, badRequest("")},
		"a missing parameter": {http.MethodPost, targets, `{"FileSystemId": "fs-01234567"}`, badRequest(
			"1 validation error detected: Value null at 'subnetId' failed to satisfy constraint: Member must not be null")},
		"a parameter that is null": {http.MethodPost, systems, `{"CreationToken": null}`, badRequest("")},
		"a tag without a value":    {http.MethodPost, systems, `{"CreationToken": "t", "Tags": [{"Key": "k"}]}`, badRequest("")},
		"a text for a boolean": {http.MethodPost, systems, `{"CreationToken": "t", "Encrypted": "true"}`, badRequest(
			`Invalid value '"true"' for Encrypted. It must be of type boolean`)},
		"a boolean for a text":  {http.MethodPost, systems, `{"CreationToken": true}`, badRequest("")},
		"a text for a list":     {http.MethodPost, systems, `{"CreationToken": "t", "Tags": "k"}`, badRequest("")},
		"a text for a tag":      {http.MethodPost, systems, `{"CreationToken": "t", "Tags": ["k"]}`, badRequest("")},
		"a value of no enum":    {http.MethodPost, systems, `{"CreationToken": "t", "PerformanceMode": "fast"}`, badRequest("")},
		"a text that is empty":  {http.MethodPost, systems, `{"CreationToken": ""}`, badRequest("")},
		"a number out of range": {http.MethodGet, systems + "?MaxItems=0", "", badRequest("1 validation error detected: Value '0' at 'maxItems' failed to satisfy constraint: Member must have at least 1")},
	} {
		t.Run(sentence, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), test.method, "https://example.com"+test.path, nil)
			require.NoError(t, err)
			_, _, failure := DecodeREST(services["efs"], r, []byte(test.body))
			require.NotNil(t, failure)
			if test.want.Message == "" {
				failure.Message = ""
			}
			assert.Empty(t, cmp.Diff(test.want, *failure))
		})
	}
}

func badRequest(message string) wire.Error {
	return wire.Error{Status: http.StatusBadRequest, Type: "BadRequest", Message: message}
}

func TestEncodeREST_OutputThatDoesNotFit(t *testing.T) {
	services, err := model.Load()
	require.NoError(t, err)
	for sentence, test := range map[string]struct {
		action string
		output Struct
		want   string
	}{
		"an unknown member":             {"DescribeFileSystems", Struct{"Systems": []any{}}, "has no member Systems"},
		"a missing member":              {"CreateMountTarget", Struct{"MountTargetId": "fsmt-01234567"}, "needs the member FileSystemId"},
		"a text for a list":             {"DescribeFileSystems", Struct{"FileSystems": "fs"}, "string is not a list"},
		"a list for a structure":        {"DescribeFileSystems", Struct{"FileSystems": []any{[]any{}}}, "is not a structure"},
		"an unknown value":              {"CreateMountTarget", Struct{"MountTargetId": "m", "FileSystemId": "f", "SubnetId": "s", "LifeCycleState": "ready"}, "is not one of"},
		"an output where there is none": {"DeleteFileSystem", Struct{"Return": true}, "it has no output"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := EncodeREST(services["efs"].Operations[test.action], test.output)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestEncodeRESTError(t *testing.T) {
	failure := EncodeRESTError(&wire.Error{Status: 409, Type: "FileSystemAlreadyExists", Message: "It exists"}, map[string]string{"FileSystemId": "fs-01234567"})
	assert.Equal(t, http.StatusConflict, failure.Status)
	assert.Equal(t, "FileSystemAlreadyExists", failure.Header.Get("X-Amzn-ErrorType"))
	assert.JSONEq(t, `{"ErrorCode": "FileSystemAlreadyExists", "Message": "It exists", "FileSystemId": "fs-01234567"}`, string(failure.Body))
}

func TestEncode_OutputThatDoesNotFit(t *testing.T) {
	services, err := model.Load()
	require.NoError(t, err)
	tests := map[string]struct {
		action string
		output Struct
		want   string
	}{
		"an unknown member":              {"DescribeVpcs", Struct{"Networks": []any{}}, "has no member Networks"},
		"an unknown member in a list":    {"DescribeVpcs", Struct{"Vpcs": []any{Struct{"Id": "vpc-1"}}}, "Vpc has no member Id"},
		"a text for a number":            {"DescribeSubnets", Struct{"Subnets": []any{Struct{"AvailableIpAddressCount": "5"}}}, "is not of type integer"},
		"a text for a list":              {"DescribeVpcs", Struct{"Vpcs": "vpc-1"}, "string is not a list"},
		"a list for a structure":         {"CreateVpc", Struct{"Vpc": []any{}}, "is not a structure"},
		"an unknown value":               {"DescribeVpcs", Struct{"Vpcs": []any{Struct{"State": "ready"}}}, "is not one of"},
		"an output where there is none":  {"DeleteVpc", Struct{"Return": true}, "it has no output"},
		"a structure of another Go type": {"CreateVpc", Struct{"Vpc": map[string]any{}}, "is not a structure"},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			_, err := Encode(services["ec2"], services["ec2"].Operations[test.action], test.output, "id")
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestEncodeError(t *testing.T) {
	failure := &wire.Error{Status: 400, Type: "InvalidVpcID.NotFound", Message: "The vpc ID '<x>' does not exist"}
	const header = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	assert.Equal(t, header+"<Response><Errors><Error><Code>InvalidVpcID.NotFound</Code><Message>The vpc ID &#39;&lt;x&gt;&#39; does not exist</Message>"+
		"</Error></Errors><RequestID>id</RequestID></Response>", string(EncodeError(model.EC2, failure, "id")))
	failure = &wire.Error{Status: 503, Type: "Throttling", Message: "Rate exceeded"}
	assert.Equal(t, header+"<ErrorResponse><Error><Type>Receiver</Type><Code>Throttling</Code><Message>Rate exceeded</Message></Error>"+
		"<RequestId>id</RequestId></ErrorResponse>", string(EncodeError(model.Query, failure, "id")))
}
