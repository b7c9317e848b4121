package figure

import (
	"strings"
	"testing"
)

func TestReadFactors(t *testing.T) {
	const text = `{"format":"mfsgd/1","runs":[
		{"slack":0,"iterations":100,"seconds":10,"reached":true,"waiting_share":0.5,"mean":{"seconds":[0.1,0.2],"rmse":[null,0.9]}},
		{"slack":2,"iterations":103,"seconds":9.4,"reached":true,"waiting_share":0.2,"mean":{"seconds":[0.1,0.2],"rmse":[1,0.8]}},
		{"slack":64,"iterations":90,"seconds":20,"reached":false,"waiting_share":0,"mean":{"seconds":[],"rmse":[]}}]}`
	p := &Part{}
	if err := p.readFactors([]byte(text), Raw); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range p.Verdicts {
		got = append(got, v.Claim.Kind.Show(v.Number)+" "+v.Outcome.String())
	}
	want := "1.06x holds, 3 % holds, - not measured, - not measured"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
	if n := len(p.Charts[0].Panels[0].Curves[0].X); n != 1 {
		t.Errorf("%d points are drawn of the one that is known", n)
	}
	for _, bad := range []string{"", "{}", `{"runs":[{"slack":2},{"slack":0}]}`} {
		if err := (&Part{}).readFactors([]byte(bad), Raw); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
