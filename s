<title>Roofline, 1 thread1</title>
