package fake

const (
	glancePrefix  = "/image"
	octaviaPrefix = "/load-balancer"
	manilaPrefix  = "/share"
	cinderPrefix  = "/volume"
)

type glanceState struct{}
type octaviaState struct{}
type manilaState struct{}
type cinderState struct{}

func (c *Cloud) registerGlance() {}
func (c *Cloud) registerOctavia() {
	e := endpoint{service: Octavia, prefix: octaviaPrefix, speak: octaviaDialect}
	c.open(e, "GET /{$}", versionDocument(octaviaPrefix, map[string]any{"id": "v2.0", "status": "CURRENT", "path": "v2"}))
	c.otherwise(e)
}
func (c *Cloud) registerManila() {}
func (c *Cloud) registerCinder() {}
func (c *Cloud) registerAdmin()  {}
