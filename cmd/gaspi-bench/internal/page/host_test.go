package page

import (
	"runtime/debug"
	"testing"
)

func TestHost(t *testing.T) {
	const cpuinfo = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: another\n"
	if got := processorOf(cpuinfo); got != "Some CPU @ 2 GHz" {
		t.Errorf("the processor is %q", got)
	}
	if got := processorOf("Hardware: x"); got != unknown {
		t.Errorf("a processor without a name is %q", got)
	}
	for want, info := range map[string]debug.BuildInfo{
		unstamped:           {Main: debug.Module{Version: "(devel)"}},
		"of version v1.2.3": {Main: debug.Module{Version: "v1.2.3"}},
		"0123456789ab":      {Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "false"}}},
		"0123456789ab+":     {Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}},
	} {
		if got := commitOf(&info); got != want {
			t.Errorf("the commit is %q, want %q", got, want)
		}
	}
}
