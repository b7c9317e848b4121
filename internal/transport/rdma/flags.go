package rdma

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// A notification travels as the data of a write where it fits: its value, its number
// among all flags of the receiver, and whether it is added. The receiver hands out
// flags in pages; each exposed segment gets some for its first notifications.
//
//	64 bits:  | add 1 | flag 31 | value 32 |
//	32 bits:  | add 1 | flag 17 | value 14 |

// flagPage is how many flags a page has.
const flagPage = 1024

// A coding is the layout of a notification in the data of a write.
type coding struct{ flagBits, valueBits uint }

func codingFor(dataBits int) coding {
	switch {
	case dataBits >= 64:
		return coding{31, 32}
	case dataBits >= 32:
		return coding{17, 14}
	default:
		return coding{}
	}
}

// pages returns the number of pages of flags.
func (c coding) pages() int {
	if c.flagBits == 0 {
		return 0
	}
	return 1 << c.flagBits / flagPage
}

// pack returns flag number and f as data, and whether they fit.
func (c coding) pack(number uint64, f transport.Flag) (uint64, bool) {
	if number>>c.flagBits != 0 || uint64(f.Value)>>c.valueBits != 0 {
		return 0, false
	}
	data := number<<c.valueBits | uint64(f.Value)
	if f.Add {
		data |= 1 << (c.flagBits + c.valueBits)
	}
	return data, true
}

func (c coding) unpack(data uint64) (number uint64, value notify.Value, add bool) {
	value = notify.Value(data & (1<<c.valueBits - 1))
	number = data >> c.valueBits & (1<<c.flagBits - 1)
	return number, value, data>>(c.flagBits+c.valueBits)&1 != 0
}

// A flagSpace assigns the flags of a rank to its regions.
type flagSpace struct {
	coding
	pages []*region // index is the page; nil where free
}

// pagesMost is the most pages that a message can contain.
const pagesMost = 1<<16 - 1

// take assigns pages to the first notifications of x: to all if there is room, and never
// more than an eighth of all pages.
func (s *flagSpace) take(x *region) {
	want := min((int(x.Notifications.Len())+flagPage-1)/flagPage, max(s.coding.pages()/8, 1), pagesMost)
	if s.coding.pages() == 0 {
		return
	}
	for first := 0; first+want <= s.coding.pages(); {
		free := 0
		for free < want && (first+free >= len(s.pages) || s.pages[first+free] == nil) {
			free++
		}
		if free == want {
			for len(s.pages) < first+want {
				s.pages = append(s.pages, nil)
			}
			for i := range want {
				s.pages[first+i] = x
			}
			x.State.flagFirst, x.State.flagPages = first*flagPage, want
			return
		}
		first += free + 1
	}
}

// free takes back the pages of x.
func (s *flagSpace) free(x *region) {
	for i := range x.State.flagPages {
		s.pages[x.State.flagFirst/flagPage+i] = nil
	}
	x.State.flagPages = 0
}

// post posts the notification that the data of an arrived write contains.
func (s *flagSpace) post(data uint64) error {
	number, value, add := s.unpack(data)
	page := number / flagPage
	if page >= uint64(len(s.pages)) || s.pages[page] == nil {
		return fmt.Errorf("a write with flag %d, which belongs to no segment", number)
	}
	x := s.pages[page]
	f := transport.Flag{ID: notify.ID(number - uint64(x.State.flagFirst)), Value: value, Add: add}
	if err := x.Notifications.Check(f.ID, f.Value); err != nil {
		return err
	}
	if x.Usable() {
		f.Post(x.Notifications)
	}
	return nil
}
