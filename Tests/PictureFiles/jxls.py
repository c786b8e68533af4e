"""Small JPEG XL files by libjxl 0.7: the quarters of `heifs.QUARTERS`, of 64 × 64 pixels.

Where they have alpha, it is 255, 195, 135 and 75. The turned one has EXIF orientation 6.
"""

import base64

_TEXTS = {
    "lossless": "/wpPQEBxIQgCAQC8AEsoN9YfvFdQMAVGlB/3Y4y77rxAEADAMUZJ0J76I9cPs7pvbxc9wKhVxBj0n9AD",
    "lossy": (
        "/wpPQEJxIQASiAIAYAdd5RIAABUqo4wbvJzr+fJDh8W0jesMbbVtYUmiyDg2SSdwmKSgQLbrWoqiGGNUGYMHYoPdq8SKJzW2klS2IuNdjPGY"
        "NNICgAZEJThAgqUve4TIERyu0OVm83PPMZ9Ggp4YE1HRf7IZtSDb8LMQpwHkIyVtKix6pCX7HQy2g6HVS7j9NvIYF5u469YwwHB5D80cycBk"
        "/g92uLgRWwAsLhwbEafyREI1rwWfcfCAV1ZkZtiWpwkplGxGe4QLlD7DegfkOxCPAT4cf/PYU8fnIPi1kIW+9SrvwHQhoOwFgBydQ928B00s"
        "HZDcq9qyA5KZWcQzxrb/rrOAzCGkQFor6cjMy8ufy8+MP5/qcwIQ8W1lzhopVTOzs7l2DK3dEattXbAN524KtO0uMaQ7P7qWeLdeKc09Z0Pr"
        "QENpKC+H67Yl8Tbesmg3qZOjANBBrHAnlB0M2MRsw9RI7DBEf6kzyNDH/BT3Y2k+vFYdazCMV+fiL7ycvwSut7VsdCgT7BBlCmi9JVcPaABU"
        "/pu5F4VsscbTy0/V/ZrOMP8bHPMJpfti9kwJLQkT91SsJ/pOIkD3x0crLr4l3Es6YEMW2Hcz1RzWe1MJBUALTdChdDwe7EONcat2WzqRvAYE"
    ),
    "alpha": "/wpPwILiQggIEADUAEsoN9YfvFeQMAVG1B/3Y4y7684LCAEAHFekAb3pPhsGCi37+3Yl5o/wcf5gINfvMvsF7wMO",
    "lossy-alpha": (
        "/wpPwIbiQgBIgCgAVAld5RIAABUqo4wbvJzr+fJDh8W0jesMbbVtYUnimLDbbd6XUHWyAovcIw8KAHxYRzRKpKCgoKBAtutaiqIYY1QZgwdi"
        "g92rxIonNbaSVLYi412M8YINMZgXxhjDGIbYYMdgcp6IURUA/Pv7vu8bP+uGYfi+7xs/6oZh+L7vG7bohmH4vu8bdmiGYTiO41jLIWut4ziO"
        "rRyy1jqO41hcIWut4ziORROy1voovXX8//////37/eMWWxYlTD14ptKCTDNppAUADYhKcIAES1/2CJEjOFyhy83m555jPo0EPTEmoqL/ZDNq"
        "QbbhZyFOA8hHStpUWPRIS/Y7GGwHQ6uXcPtt5DEuNnHXrWGA4fIemjmSgcn8H+xwcSO2AFhcODYiTuWJhGpeCz7j4AGvrMjMsC1PE1Io2Yz2"
        "CBcofYb1Dsh3IB4DfDj+5rGnjs9B8GshC33rVd6B6UJA2QsAOTqHunkPmlg6ILlXtWUHJDOziGeMbf9dZwGZQ0iBtFbSkZmXlz+Xnxl/PtXn"
        "BCDi28qcNVKqZmZnc+0YWrsjVtu6YBvO3RRo211iSHd+dC3xbr1SmnvOhtaBhtJQXg7XbUvibbxl0W5SJ0cBoINY4U4oOxiwidmGqZHYYYj+"
        "UmeQoY/5Ke7H0nx4rTrWYBivzsVfeDl/CVxva9noUCbYIcoU0HpLrh7QAKj8N3MvCtlijaeXn6r7NZ1h/jc45hNK98XsmRJaEibuqVhP9J1E"
        "gO6Pj1ZcfEu4l3TAhiyw72aqOaz3phIKgBaaoEPpeDzYhxrjVu22dCJ5DQg="
    ),
    "grey": "/wpPQFBcCAgCAQCoAEsYixUAlDOzu3H3AkAAABCggFAABxhAEAkIAS5/PhyAcU7ACAgwWhzbDg==",
    "grey-alpha": "/wpPwKK4EAgIEAC8AEs4aJjCg/cUJEyBEeXvb4wxvssucACAAAAQHQDAKKbEE9d7couAQO9aBMCfJcsB",
    "recompressed": (
        "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAARanhscAAAAAD/Ck9AJAAAAeBqYnJkwG0DCIIgtAwIgFCjQMhVJQAAIOSobMFQ"
        "nP8TRMYIZZxTCtqPkCHMUgcZZqB0hxqsDxlOPmbAIQcVFjlo2IHto4b+/ZFlDjvuQEPR/S/GOGOSSzb5ZJRTnpnmmm2+GeechR6a6KKNPhrp"
        "pKWemuqqrb4a66zFHpvsss0+G+205Z6b7rrtvhvvvAUfnPDCDT8c8cQjl3xyyiu3/HLMMw9d9NFJL93001FPPXbZZ6e9dttvxz334IUfnvji"
        "jT8e+eSjl3566qu3/nrsswc/fPHHJ798889HP33445d/fvrrt/9+/PP/VzBVVQIAIOSobMFQnP8XREIpo6xTisR4QMhm1CDDpDrQUD3YcO4h"
        "xwwoyAcNOeiwAxuLLHPU7/Zhxw2t6I88M/gkw/tfjHHGJZt8Msop01yzzTfjnLPQQxNdtNFHI5201FNTXbXVV2Odtdhjk1222Wejnbbcc9Nd"
        "t91345134IIPTnjhhh+OeOKRSz455ZVbfjnmmYcu+uikl2766ainHrvss9Neu+2345578MIPT3zxxh+PfPLRSz899dVbfz322Ycv/vjkl2/+"
        "+einH7/889Nfv/3345//v8APAFQWAAsIgOAAEEpGSUYAAQEAAAEAAQAAAwAAAP1qeGxwgAAAAeBbABAAqAMIWAhYCFj+/w4AABgACAABAAAA"
        "AACAgCWJItNNRr1rhg8AoOSkoKCgwKrGGOPFeDHGeIyMR92VPbbiUaou8hgvOMQYoyNiGIUixjCGsYz2GwjAf8tOgcrXNCFLke1W+O02/0cM"
        "XZNh5IUqCV2mk8dWWvVSnNwTV1FC53AJpEcq9BkJoGvoqDVrVvAF9lANRrlsKtjCMD7zFOAXGhYiwbvUAvzYEk728Sf9P+wRXIqXqDFrIJ1L"
        "wlLPV6cwngOVif8AAEwAOAHEYISrABQl67ToiPor1zaMjMALPFANgAwhApQDAAAAAAAoSQA="
    ),
    "turned": (
        "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAASanhscAAAAAD/Ck8sEBMAAAHjamJyZMBw2wCCIAgtAwJAIgChRoGQq0oAAEDI"
        "UdmCoTj/J4iMEco4pxS0HyFDmKUOMsxA6Q41WB8ynHzMgEMOKixy0LAD20cN/fsjyxx23IGGovtfjHHGJJds8skopzwzzTXbfDPOOQs9NNFF"
        "G3000klLPTXVVVt9NdZZiz022WWbfTbaacs9N91123033nkLPjjhhRt+OOKJRy755JRXbvnlmGceuuijk1666aejnnrsss9Oe+2234577sEL"
        "PzzxxRt/PPLJRy/99NRXb/312GcPfvjij09++eafj3768Mcv//z012///fjn/69gqqoEAEDIUdmCoTj/L4iEUkZZpxSJ8YCQzahBhkl1oKF6"
        "sOHcQ44ZUJAPGnLQYQc2FlnmqN/tw44bWtEfeWbwSYb3vxjjjEs2+WSUU6a5ZptvxjlnoYcmumijj0Y6aamnprpqq6/GOmuxxya7bLPPRjtt"
        "ueemu26778Y778AFH5zwwg0/HPHEI5d8csort/xyzDMPXfTRSS/d9NNRTz122WenvXbbb8c99+CFH5744o0/Hvnko5d+euqrt/567LMPX/zx"
        "yS/f/PPRTz9++eenv37778c//3+BHwCoLAALCIDgABBKRklGAAEBAAABAAEAAAMAAAArYnJvYkV4aWYbHQAABHRjGwcxW6KpvxMJZZRYtIAk"
        "D9CW/4seKRkAAAAA/Wp4bHCAAAAB4FsAEACoAwhYCFgIWP7/DgAAGAAIAAEAAAAAAICAJYki001GvWuGDwCg5KSgoKDAqsYY48V4McZ4jIxH"
        "3ZU9tuJRqi7yGC84xBijI2IYhSLGMIaxjPYbCMB/y06Bytc0IUuR7Vb47Tb/Rwxdk2HkhSoJXaaTx1Za9VKc3BNXUULncAmkRyr0GQmga+io"
        "NWtW8AX2UA1GuWwq2MIwPvMU4BcaFiLBu9QC/NgSTvbxJ/0/7BFcipeoMWsgnUvCUs9XpzCeA5WJ/wAATAA4AcRghKsAFCXrtOiI+ivXNoyM"
        "wAs8UA2ADCEClAMAAAAAAChJAA=="
    ),
    "premultiplied": "/wpPwILiQggIEADUAEsoN9YfvFeQMAVG1B/3Y4y7684LCAEAHFekAb3pPhsGCi37+3Yl5o/wcf5gINfvMvsF7wMO",
}

FILES = {name: base64.b64decode(text) for name, text in _TEXTS.items()}
