package model

// Protocol is the encoding of a service's requests and responses.
type Protocol string

// The protocols. The first two have form parameters as requests and XML as responses, the last one has resources and JSON, see package protocol.
const (
	EC2      Protocol = "ec2"
	Query    Protocol = "query"
	RESTJSON Protocol = "rest-json"
)

// Service is the model of one service.
type Service struct {
	Name         string // of the file: "ec2", "efs", "iam", "elb", "elbv2", "sts"
	SigningName  string // the service in the credential scope of signatures; ELB and ELBv2 have the same
	Version      string // of the API, such as "2016-11-15"; each request names it
	Protocol     Protocol
	XMLNamespace string
	Operations   map[string]*Operation
}

// Operation is an action of a service.
type Operation struct {
	Name string
	// Input and Output are structures; nil for an operation without.
	Input, Output *Shape
	// HTTP is set in the protocol "rest-json" alone.
	HTTP HTTP
	// ResultWrapper is the element around the output in the protocol "query".
	ResultWrapper string
	// Errors are the HTTP status codes of the errors that the model declares, by code. Models of the protocol "ec2" declare none.
	Errors map[string]int
	// Filters are the names of the filters that the documentation of the operation has; "tag" stands for all with the prefix "tag:".
	Filters []string
}

// HTTP says which request is for an operation.
type HTTP struct {
	Method string
	// URI is a path with the names of members in braces, such as "/2015-02-01/file-systems/{FileSystemId}", and perhaps a fixed query.
	URI string
	// Status is that of the response of a successful call; 0 means 200.
	Status int
}

// Type is the type of a shape.
type Type string

// The types of shapes. Comments name the Go types of values, see package protocol.
const (
	Structure Type = "structure" // protocol.Struct
	List      Type = "list"      // []any
	Map       Type = "map"       // map[string]any
	String    Type = "string"    // string
	Boolean   Type = "boolean"   // bool
	Integer   Type = "integer"   // int64
	Long      Type = "long"      // int64
	Float     Type = "float"     // float64
	Double    Type = "double"    // float64
	Timestamp Type = "timestamp" // time.Time
	Blob      Type = "blob"      // []byte
)

// Shape is a type of values. Shapes may be recursive.
type Shape struct {
	Name     string
	Type     Type
	Required []string           // names of members
	Members  map[string]*Member // of a structure
	Item     *Member            // of a list
	Key      *Member            // of a map
	Value    *Member            // of a map
	// Flattened lists and maps have no element around their items.
	Flattened bool
	Enum      []string
	// Min and Max limit numbers, and the length of strings and lists; nil without a limit.
	Min, Max        *float64
	TimestampFormat string
}

// Location is where a member of an input or output is in the protocol "rest-json".
type Location string

// The locations.
const (
	InBody   Location = ""
	InURI    Location = "uri"
	InQuery  Location = "querystring"
	InHeader Location = "header"
)

// Member is a use of a shape: a member of a structure, the item of a list, or the key or value of a map.
type Member struct {
	Name         string // of a member of a structure
	Location     Location
	LocationName string // its name on the wire, if it is another
	QueryName    string // the same, for requests of the protocol "ec2"
	Shape        *Shape
	Flattened    bool
	// IdempotencyToken marks the parameter with which a client repeats a request safely.
	IdempotencyToken bool
	TimestampFormat  string
}

// IsFlattened reports whether the items of a list or map have no element around them.
func (m *Member) IsFlattened() bool { return m.Flattened || m.Shape.Flattened }

// TimeFormat returns the format of a timestamp, or an empty string for that of the protocol.
func (m *Member) TimeFormat() string {
	if m.TimestampFormat != "" {
		return m.TimestampFormat
	}
	return m.Shape.TimestampFormat
}

// TokenMember returns the name of the input member that is the idempotency token, or an empty string.
func (o *Operation) TokenMember() string {
	if o.Input == nil {
		return ""
	}
	for name, member := range o.Input.Members {
		// The models mark some tokens and forget others.
		if member.IdempotencyToken || name == "ClientToken" {
			return name
		}
	}
	return ""
}
